# The archive of the functions, the images built of it, and what users upload.

locals {
  # A name that tells the content: with another archive the functions are built again, with the same not.
  source_object = "recap-${filesha256(var.source_archive)}.zip"

  # What the signed address of an upload is bound to: a browser sends all of it.
  signed_upload_headers = ["content-type", "x-goog-content-length-range", "x-goog-custom-time", "x-goog-if-generation-match"]
}

resource "google_storage_bucket" "source" {
  project  = var.project_id
  name     = "${var.project_id}-${var.name}-source"
  location = var.region
  labels   = var.labels

  uniform_bucket_level_access = true
  public_access_prevention    = "enforced"
  # It holds nothing that `npm run package` cannot make again.
  force_destroy = true

  depends_on = [time_sleep.apis]
}

resource "google_storage_bucket_object" "source" {
  bucket = google_storage_bucket.source.name
  name   = local.source_object
  source = var.source_archive

  lifecycle {
    # The old one stays until the functions no longer name it.
    create_before_destroy = true
  }
}

resource "google_artifact_registry_repository" "images" {
  project       = var.project_id
  location      = var.region
  repository_id = "${var.name}-functions"
  description   = "Recap: images of the functions, made by Cloud Build."
  format        = "DOCKER"
  labels        = var.labels

  cleanup_policies {
    id     = "keep-newest"
    action = "KEEP"
    most_recent_versions {
      keep_count = 5
    }
  }
  cleanup_policies {
    id     = "delete-old"
    action = "DELETE"
    condition {
      older_than = "2592000s"
    }
  }

  depends_on = [time_sleep.apis]
}

# What users upload. Without it there are no uploads, and nothing else changes.
resource "google_storage_bucket" "uploads" {
  count = var.uploads ? 1 : 0

  project  = var.project_id
  name     = "${var.project_id}-${var.name}-uploads"
  location = var.region
  labels   = var.labels

  uniform_bucket_level_access = true
  public_access_prevention    = "enforced"
  force_destroy               = !var.deletion_protection

  # What is erased for somebody must be gone, not kept for a week.
  soft_delete_policy {
    retention_duration_seconds = 0
  }

  dynamic "cors" {
    for_each = length(var.cors_origins) > 0 ? [var.cors_origins] : []
    content {
      origin          = cors.value
      method          = ["GET", "PUT"]
      response_header = local.signed_upload_headers
      max_age_seconds = 3600
    }
  }

  # A file that no message ever named. It gets the time of its upload as custom time, and the year 2999 when a
  # message names it (docs/guides/attachments.md).
  lifecycle_rule {
    action {
      type = "Delete"
    }
    condition {
      days_since_custom_time = 1
      matches_prefix         = ["users/"]
    }
  }
  # Parts of an upload that was given up.
  lifecycle_rule {
    action {
      type = "AbortIncompleteMultipartUpload"
    }
    condition {
      age = 1
    }
  }

  depends_on = [time_sleep.apis]
}
