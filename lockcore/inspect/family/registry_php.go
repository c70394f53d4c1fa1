package family

// phpFamilies are the lock libraries written in PHP.
func phpFamilies() []*Family {
	return []*Family{
		phpLock(), cheprasov(), phpredisSession(), magentoSession(), drupal(), yii2(), laravel(), redlockPHP(),
	}
}
