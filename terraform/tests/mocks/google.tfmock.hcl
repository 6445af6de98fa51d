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

mock_resource "google_secret_manager_secret_version" {
  defaults = {
    version = "1"
  }
}
