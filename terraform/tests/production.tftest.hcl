# environments/prod and environments/dev.

mock_provider "google" {
  source = "./tests/mocks"
}

mock_provider "time" {}

# Else what a run has made cannot be taken away behind it.
override_resource {
  target = module.recap.terraform_data.protection
  values = { output = false }
}

variables {
  project_id     = "recap-test"
  source_archive = "tests/source.zip"
}

run "prod" {
  command = apply

  module {
    source = "./environments/prod"
  }
  variables {
    notification_emails = ["oncall@example.com"]
  }

  assert {
    condition     = module.recap.database_protection == "DELETE_PROTECTION_ENABLED"
    error_message = "In production the database must survive a destroy."
  }
  assert {
    condition     = output.dead_letter_subscriptions == ["recap-compaction-dead"] && strcontains(output.keep_cpu_command, "recap-chat")
    error_message = "What documents name is an output of the root."
  }
  assert {
    condition     = module.recap.erasures_kept_days > 8 * 7
    error_message = "In production, too, who was erased must be known longer than the backups of eight weeks."
  }
}

run "prod_without_anybody_on_call" {
  command = plan

  module {
    source = "./environments/prod"
  }
  variables {
    notification_emails = []
  }

  expect_failures = [var.notification_emails]
}

run "dev" {
  command = apply

  module {
    source = "./environments/dev"
  }

  assert {
    condition     = module.recap.database_protection == "DELETE_PROTECTION_DISABLED"
    error_message = "A deployment to try things on can be destroyed."
  }
  assert {
    condition     = module.recap.erasures_kept_days == 0
    error_message = "Where nothing can be restored nothing is kept for it."
  }
  assert {
    condition     = module.recap.dashboard == null
    error_message = "What is only tried has its logs, and waits for no metric."
  }
}

run "dev_basic" {
  command = apply

  module {
    source = "./environments/dev"
  }
  variables {
    observability = "basic"
  }

  assert {
    condition     = module.recap.dashboard != null
    error_message = "A basic observability has a dashboard."
  }
}

run "dev_full" {
  command = apply

  module {
    source = "./environments/dev"
  }
  variables {
    observability = "full"
  }
}
