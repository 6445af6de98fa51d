# A deployment that people rely on: protected, backed up, warm, and somebody is told.

terraform {
  required_version = ">= 1.11"

  required_providers {
    google = {
      source  = "hashicorp/google"
      version = "~> 7.33"
    }
    time = {
      source  = "hashicorp/time"
      version = "~> 0.13"
    }
  }

  # Where the state is kept is said at `terraform init -backend-config=bucket=NAME`; the bucket is to have
  # versions and uniform access.
  backend "gcs" {
    prefix = "recap/prod"
  }
}

provider "google" {
  project               = var.project_id
  region                = var.region
  user_project_override = true
  billing_project       = var.project_id
}

# What no variable here stands for is set here: terraform/README.md lists all arguments.
module "recap" {
  source = "../.."

  project_id        = var.project_id
  region            = var.region
  database_id       = var.database_id
  database_location = var.database_location
  source_archive    = var.source_archive

  deletion_protection       = var.deletion_protection
  point_in_time_recovery    = true
  daily_backups_kept_days   = 7
  weekly_backups_kept_weeks = 8
  observability             = "full"
  # Together 20 CPUs, of which most new projects are given as many in a region. For more: docs/deploy.md, "Quotas".
  chat                = { min_instances = 1, max_instances = 15 }
  compaction          = { max_instances = 5 }
  settings            = var.settings
  cors_origins        = var.cors_origins
  fcm_project         = var.fcm_project
  notification_emails = var.notification_emails
  budget              = var.budget
}
