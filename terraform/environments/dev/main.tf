# A deployment to try things on: small, without protection, and gone with `terraform destroy`.

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

  # The state is a file beside this one. For more than one person: backend "gcs", as in ../prod.
}

provider "google" {
  project = var.project_id
  region  = var.region
  # Billing of budgets and Firebase APIs go by this project, not by that of gcloud.
  user_project_override = true
  billing_project       = var.project_id
}

# What no variable here stands for is set here: terraform/README.md lists all arguments.
module "recap" {
  source = "../.."

  project_id     = var.project_id
  region         = var.region
  source_archive = var.source_archive

  deletion_protection       = false
  point_in_time_recovery    = false
  daily_backups_kept_days   = 0
  weekly_backups_kept_weeks = 0
  observability             = var.observability
  chat                      = { max_instances = 3 }
  compaction                = { max_instances = 2 }
  settings                  = var.settings
}
