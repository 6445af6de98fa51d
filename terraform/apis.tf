locals {
  apis = toset(concat(
    [
      "artifactregistry.googleapis.com",
      "cloudbuild.googleapis.com",
      "cloudfunctions.googleapis.com",
      "cloudresourcemanager.googleapis.com",
      "cloudscheduler.googleapis.com",
      "firebaserules.googleapis.com",
      "firestore.googleapis.com",
      "iam.googleapis.com",
      "iamcredentials.googleapis.com",
      "logging.googleapis.com",
      "monitoring.googleapis.com",
      "pubsub.googleapis.com",
      "run.googleapis.com",
      "secretmanager.googleapis.com",
      "storage.googleapis.com",
    ],
    local.uses_vertex ? ["aiplatform.googleapis.com"] : ["generativelanguage.googleapis.com"],
    local.checks_revoked ? ["identitytoolkit.googleapis.com"] : [],
    var.fcm_project == null ? [] : ["fcm.googleapis.com"],
    var.budget == null ? [] : ["billingbudgets.googleapis.com"],
  ))
}

resource "google_project_service" "required" {
  for_each = local.apis

  project = var.project_id
  service = each.value

  # Others in the project may use it; taking Recap away leaves it on.
  disable_on_destroy = false
}

data "google_project" "this" {
  project_id = var.project_id

  # A new project has no API that tells its number.
  depends_on = [google_project_service.required["cloudresourcemanager.googleapis.com"]]
}

# Another project whose Vertex AI reads what users attach: its service agent is named by its number.
data "google_project" "vertex" {
  count = local.uses_vertex && var.uploads && local.vertex_project != var.project_id ? 1 : 0

  project_id = local.vertex_project
}
