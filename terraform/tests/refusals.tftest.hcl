# Values that are refused, each by the variable that says what is allowed: one for each variable in a run.

mock_provider "google" {
  source = "./tests/mocks"
}

mock_provider "time" {}

variables {
  project_id       = "recap-test"
  source_archive   = "tests/source.zip"
  gemini_api_key   = "unused"
  hook_signing_key = "0123456789012345678901234567890123456789"
}

run "refusals_1" {
  command = plan

  variables {
    # project of the emulators
    project_id = "demo-recap"
    # zone
    region = "us-central1-a"
    # long name
    name = "recap-for-everybody-and-more"
    # missing archive
    source_archive = "tests/missing.zip"
    # setting that nobody reads
    settings = { MODELS = "gemini-3.8-flash" }
    # internal chat
    chat_ingress = "ALLOW_INTERNAL_ONLY"
    # unknown egress
    vpc_egress = { network = "vpc", subnetwork = "functions", traffic = "ALL" }
    # rare sweep
    sweep_schedule = "0 * * * *"
    # unknown model access
    model_access = "openai"
    # webhooks without signature
    hook_hosts       = ["hooks.example.com"]
    hook_signing_key = "short"
    # version zero
    secret_versions = { gemini_api_key = 0 }
    # odd database
    database_id = "Main"
    # backups for a year
    daily_backups_kept_days = 365
    # backups for a year of weeks
    weekly_backups_kept_weeks = 52
    # origin with a path
    cors_origins = ["https://app.example.com/chat"]
    # no address
    notification_emails = ["oncall"]
    # threshold of nothing
    alert_thresholds = { cost_usd_per_hour = 0 }
    # billing account by name
    budget = { billing_account = "My account", monthly_amount = 300 }
    # label in capitals
    labels = { Team = "chat" }
    # audience without a scheme
    push_audience = "worker.example.com"
    # account of a person
    admin_service_accounts = ["me@example.com"]
    # number of a project
    vertex_project = "123456789012"
    # zone for a location
    vertex_location = "us-central1-a"
    # continent
    database_location = "europe"
    # project by its display name
    fcm_project = "My Phones"
    # channel by its number alone
    notification_channels = ["123"]
  }

  expect_failures = [
    var.project_id,
    var.region,
    var.name,
    var.source_archive,
    var.settings,
    var.chat_ingress,
    var.vpc_egress,
    var.sweep_schedule,
    var.model_access,
    var.hook_signing_key,
    var.secret_versions,
    var.database_id,
    var.daily_backups_kept_days,
    var.weekly_backups_kept_weeks,
    var.cors_origins,
    var.notification_emails,
    var.alert_thresholds,
    var.budget,
    var.labels,
    var.push_audience,
    var.admin_service_accounts,
    var.vertex_project,
    var.vertex_location,
    var.database_location,
    var.fcm_project,
    var.notification_channels,
  ]
}

run "refusals_2" {
  command = plan

  variables {
    # concurrency without cpu
    chat = { cpu = 0.5, concurrency = 40 }
    # worker concurrency without cpu
    compaction = { cpu = 0.5 }
    # project number
    project_id = "123456789012"
    # multi region
    region = "nam5"
    # upper case name
    name = "Recap"
    # folder as archive
    source_archive = "tests"
    # key access without key
    model_access   = "gemini_api_key"
    gemini_api_key = ""
    # webhook in the open
    hook_hosts        = ["hooks.example.com"]
    event_webhook_url = "http://hooks.example.com/recap"
    # share above one
    alert_thresholds = { turn_failed_share = 5 }
    # erasures forgotten before the backups
    erasures_kept_days = 20
    # budget of nothing
    budget = { billing_account = "012345-6789AB-CDEF01", monthly_amount = 0 }
  }

  expect_failures = [
    var.chat,
    var.compaction,
    var.project_id,
    var.region,
    var.name,
    var.source_archive,
    var.gemini_api_key,
    var.event_webhook_url,
    var.alert_thresholds,
    var.erasures_kept_days,
    var.budget,
  ]
}

run "refusals_3" {
  command = plan

  variables {
    # secret as setting
    settings = { GEMINI_API_KEY = "a-key" }
    # erasures for ever
    erasures_kept_days = 10000
    # webhook to another host
    hook_hosts        = ["hooks.example.com"]
    event_webhook_url = "https://other.example.com/recap"
  }

  expect_failures = [
    var.settings,
    var.erasures_kept_days,
    var.event_webhook_url,
  ]
}

run "refusals_4" {
  command = plan

  variables {
    # three cpus
    chat = { cpu = 3 }
    # worker time out below the longest compaction
    compaction = { timeout_seconds = 300 }
  }

  expect_failures = [
    var.chat,
    var.compaction,
  ]
}

run "refusals_5" {
  command = plan

  variables {
    # setting of the emulators
    settings = { PUBSUB_EMULATOR_HOST = "127.0.0.1:8085" }
    # host with a path
    hook_hosts = ["https://hooks.example.com/recap"]
    # setting of Recap's own
    app_settings = { USER_DAILY_USD = "1" }
    # secret with a variable of its own
    app_secret_versions = { GEMINI_API_KEY = 1 }
  }

  expect_failures = [
    var.settings,
    var.app_settings,
    var.app_secret_versions,
    var.hook_hosts,
  ]
}

run "refusals_6" {
  command = plan

  variables {
    # little memory
    chat = { memory_mib = 256 }
  }

  expect_failures = [
    var.chat,
  ]
}

run "memory_of_four_cpus" {
  command = plan

  variables {
    # four cpus with the memory of one
    chat = { cpu = 4 }
    # memory of two cpus
    compaction = { memory_mib = 8192 }
  }

  expect_failures = [
    var.chat,
    var.compaction,
  ]
}

run "memory_of_half_a_cpu" {
  command = plan

  variables {
    # memory of a cpu
    chat = { cpu = 0.5, concurrency = 1, memory_mib = 2048 }
    # memory of half a cpu
    compaction = { cpu = 0.25, concurrency = 1, memory_mib = 1024 }
  }

  expect_failures = [
    var.chat,
    var.compaction,
  ]
}

run "refusals_7" {
  command = plan

  variables {
    # more instances than may be
    chat = { min_instances = 5, max_instances = 2 }
  }

  expect_failures = [
    var.chat,
  ]
}

run "refusals_8" {
  command = plan

  variables {
    # half a request
    chat = { concurrency = 1.5 }
  }

  expect_failures = [
    var.chat,
  ]
}

run "refusals_9" {
  command = plan

  variables {
    # time out below the longest answer
    chat = { timeout_seconds = 300 }
  }

  expect_failures = [
    var.chat,
  ]
}

run "refusals_10" {
  command = plan

  variables {
    # worker time out above the deadline
    compaction = { timeout_seconds = 900 }
  }

  expect_failures = [
    google_pubsub_subscription.compaction,
  ]
}
