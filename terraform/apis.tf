locals {
  # What Terraform itself asks before it can enable any other. docs/deploy.md has them enabled before the first apply.
  first_apis = toset(["cloudresourcemanager.googleapis.com", "serviceusage.googleapis.com"])

  apis = toset(concat(
    [
      "artifactregistry.googleapis.com",
      "cloudbuild.googleapis.com",
      "cloudfunctions.googleapis.com",
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

  # What the functions ask of other projects: the API must be on there, too.
  apis_elsewhere = {
    for service, project in {
      "aiplatform.googleapis.com" = local.uses_vertex ? local.vertex_project : null
      "fcm.googleapis.com"        = var.fcm_project
    } : service => project if project != null && project != var.project_id
  }
}

# In a resource of their own: what goes by the number of the project would else be made anew with every further API.
resource "google_project_service" "first" {
  for_each = local.first_apis

  project = var.project_id
  service = each.value

  # Others in the project may use it; taking Recap away leaves it on.
  disable_on_destroy = false
}

resource "google_project_service" "required" {
  for_each = local.apis

  project = var.project_id
  service = each.value

  disable_on_destroy = false

  depends_on = [google_project_service.first]
}

resource "google_project_service" "elsewhere" {
  for_each = local.apis_elsewhere

  project = each.value
  service = each.key

  disable_on_destroy = false

  depends_on = [google_project_service.first]
}

# Google says that an API is on some time before all of Google knows it. All that needs an API waits for this.
resource "time_sleep" "apis" {
  create_duration = "60s"

  triggers = {
    apis = join(" ", local.apis)
  }

  depends_on = [google_project_service.required]
}

data "google_project" "this" {
  project_id = var.project_id

  # A new project has no API that tells its number.
  depends_on = [google_project_service.first]
}

# Another project whose Vertex AI reads what users attach: its service agent is named by its number.
data "google_project" "vertex" {
  count = local.vertex_reads_uploads_elsewhere ? 1 : 0

  project_id = local.vertex_project

  depends_on = [google_project_service.first]
}
