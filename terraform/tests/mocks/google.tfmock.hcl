# What Google would answer, as far as other resources go by it.

mock_data "google_project" {
  defaults = {
    number = "123456789012"
  }
}

mock_resource "google_cloudfunctions2_function" {
  defaults = {
    url = "https://us-central1-recap-test.cloudfunctions.net/function"
    service_config = {
      uri = "https://function-abcdefghij-uc.a.run.app"
    }
  }
}

mock_resource "google_firebaserules_ruleset" {
  defaults = {
    name = "11111111-2222-3333-4444-555555555555"
  }
}

mock_resource "google_project_iam_custom_role" {
  defaults = {
    name = "projects/recap-test/roles/recap_own"
  }
}

mock_resource "google_secret_manager_secret_version" {
  defaults = {
    version = "1"
  }
}

# Accounts with names of their own, in the form that the provider checks: here and below the environments.

override_resource {
  target = google_service_account.build
  values = {
    name   = "projects/recap-test/serviceAccounts/recap-build@recap-test.iam.gserviceaccount.com"
    email  = "recap-build@recap-test.iam.gserviceaccount.com"
    member = "serviceAccount:recap-build@recap-test.iam.gserviceaccount.com"
  }
}

override_resource {
  target = google_service_account.chat
  values = {
    name   = "projects/recap-test/serviceAccounts/recap-chat@recap-test.iam.gserviceaccount.com"
    email  = "recap-chat@recap-test.iam.gserviceaccount.com"
    member = "serviceAccount:recap-chat@recap-test.iam.gserviceaccount.com"
  }
}

override_resource {
  target = google_service_account.compaction
  values = {
    name   = "projects/recap-test/serviceAccounts/recap-compaction@recap-test.iam.gserviceaccount.com"
    email  = "recap-compaction@recap-test.iam.gserviceaccount.com"
    member = "serviceAccount:recap-compaction@recap-test.iam.gserviceaccount.com"
  }
}

override_resource {
  target = google_service_account.push
  values = {
    name   = "projects/recap-test/serviceAccounts/recap-push@recap-test.iam.gserviceaccount.com"
    email  = "recap-push@recap-test.iam.gserviceaccount.com"
    member = "serviceAccount:recap-push@recap-test.iam.gserviceaccount.com"
  }
}

override_resource {
  target = module.recap.google_service_account.build
  values = {
    name   = "projects/recap-test/serviceAccounts/recap-build@recap-test.iam.gserviceaccount.com"
    email  = "recap-build@recap-test.iam.gserviceaccount.com"
    member = "serviceAccount:recap-build@recap-test.iam.gserviceaccount.com"
  }
}

override_resource {
  target = module.recap.google_service_account.chat
  values = {
    name   = "projects/recap-test/serviceAccounts/recap-chat@recap-test.iam.gserviceaccount.com"
    email  = "recap-chat@recap-test.iam.gserviceaccount.com"
    member = "serviceAccount:recap-chat@recap-test.iam.gserviceaccount.com"
  }
}

override_resource {
  target = module.recap.google_service_account.compaction
  values = {
    name   = "projects/recap-test/serviceAccounts/recap-compaction@recap-test.iam.gserviceaccount.com"
    email  = "recap-compaction@recap-test.iam.gserviceaccount.com"
    member = "serviceAccount:recap-compaction@recap-test.iam.gserviceaccount.com"
  }
}

override_resource {
  target = module.recap.google_service_account.push
  values = {
    name   = "projects/recap-test/serviceAccounts/recap-push@recap-test.iam.gserviceaccount.com"
    email  = "recap-push@recap-test.iam.gserviceaccount.com"
    member = "serviceAccount:recap-push@recap-test.iam.gserviceaccount.com"
  }
}
