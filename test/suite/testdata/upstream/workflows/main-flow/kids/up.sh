echo up "${name}"
