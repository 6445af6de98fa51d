# One service account for each function, one that pushes, one that builds. Each right is given on the one
# resource it is for; where Google has none to give it on, a condition names it.

resource "google_service_account" "chat" {
  project      = var.project_id
  account_id   = "${var.name}-chat"
  display_name = "Recap chat"
  description  = "Runs the chat function: reads and writes conversations, asks the model, publishes."

  depends_on = [time_sleep.apis]
}

resource "google_service_account" "compaction" {
  project      = var.project_id
  account_id   = "${var.name}-compaction"
  display_name = "Recap compaction"
  description  = "Runs the worker: reads and writes conversations, asks the model, publishes, notifies."

  depends_on = [time_sleep.apis]
}

resource "google_service_account" "push" {
  project      = var.project_id
  account_id   = "${var.name}-push"
  display_name = "Recap push"
  description  = "Whom Pub/Sub pushes as: may call the worker, and nothing else."

  depends_on = [time_sleep.apis]
}

resource "google_service_account" "build" {
  project      = var.project_id
  account_id   = "${var.name}-build"
  display_name = "Recap build"
  description  = "Builds the images of both functions."

  depends_on = [time_sleep.apis]
}

locals {
  # Ids of roles have no hyphens.
  role_prefix = replace(var.name, "-", "_")

  function_members = {
    chat       = google_service_account.chat.member
    compaction = google_service_account.compaction.member
  }
}

# Firestore has rights on projects only; the condition, in the form that Google documents, leaves this one database.
resource "google_project_iam_member" "firestore" {
  for_each = local.function_members

  project = var.project_id
  role    = "roles/datastore.user"
  member  = each.value

  condition {
    title       = "recap-database"
    description = "The database of Recap, no other of the project."
    expression  = "resource.name == \"projects/${var.project_id}/databases/${var.database_id}\""
  }

  # With another database_id the right on the old one goes when the functions use the new one.
  lifecycle {
    create_before_destroy = true
  }
}

# Predefined roles that ask models also read and change all of Vertex AI.
resource "google_project_iam_custom_role" "ask_models" {
  count = local.uses_vertex ? 1 : 0

  project     = local.vertex_project
  role_id     = "${local.role_prefix}_ask_models"
  title       = "Recap (${var.name}): ask models"
  description = "Calls of models of Vertex AI, and nothing else."
  permissions = ["aiplatform.endpoints.predict"]

  depends_on = [time_sleep.apis]
}

# Models of Vertex AI belong to no project and can be named in no condition.
resource "google_project_iam_member" "vertex" {
  for_each = local.uses_vertex ? local.function_members : {}

  project = local.vertex_project
  role    = google_project_iam_custom_role.ask_models[0].name
  member  = each.value

  # With a key instead the right goes when the functions use the key.
  lifecycle {
    create_before_destroy = true
  }
}

# CHECK_REVOKED: whether a sign-in still holds (firebaseauth.users.get).
resource "google_project_iam_member" "accounts" {
  count = local.checks_revoked ? 1 : 0

  project = var.project_id
  role    = "roles/firebaseauth.viewer"
  member  = google_service_account.chat.member
}

# FCM_PROJECT: the worker notifies (cloudmessaging.messages.create).
resource "google_project_iam_member" "notifications" {
  count = var.fcm_project == null ? 0 : 1

  project = var.fcm_project
  role    = "roles/firebasecloudmessaging.admin"
  member  = google_service_account.compaction.member
}

# Chat asks for compactions and tells of turns; the worker asks again for what is left, and tells of
# compactions.
resource "google_pubsub_topic_iam_member" "publish_compaction" {
  for_each = local.function_members

  project = var.project_id
  topic   = google_pubsub_topic.compaction.name
  role    = "roles/pubsub.publisher"
  member  = each.value
}

resource "google_pubsub_topic_iam_member" "publish_events" {
  for_each = local.function_members

  project = var.project_id
  topic   = google_pubsub_topic.events.name
  role    = "roles/pubsub.publisher"
  member  = each.value
}

# Files that users attach: chat signs their addresses as itself, the worker erases them, both read them.
resource "google_storage_bucket_iam_member" "uploads" {
  for_each = var.uploads ? local.function_members : {}

  bucket = google_storage_bucket.uploads[0].name
  role   = "roles/storage.objectUser"
  member = each.value
}

# Predefined roles that sign also make tokens.
resource "google_project_iam_custom_role" "sign_addresses" {
  count = var.uploads ? 1 : 0

  project     = var.project_id
  role_id     = "${local.role_prefix}_sign_addresses"
  title       = "Recap (${var.name}): sign addresses"
  description = "Signatures as one account, and nothing else."
  permissions = ["iam.serviceAccounts.signBlob"]

  depends_on = [time_sleep.apis]
}

resource "google_service_account_iam_member" "upload_addresses" {
  count = var.uploads ? 1 : 0

  service_account_id = google_service_account.chat.name
  role               = google_project_iam_custom_role.sign_addresses[0].name
  member             = google_service_account.chat.member
}

# Vertex AI reads attached files itself, as its service agent. In its own project that may read every bucket; of
# another project it is given this one.
resource "google_storage_bucket_iam_member" "uploads_of_vertex" {
  count = local.vertex_reads_uploads_elsewhere ? 1 : 0

  bucket = google_storage_bucket.uploads[0].name
  role   = "roles/storage.objectViewer"
  member = "serviceAccount:service-${data.google_project.vertex[0].number}@gcp-sa-aiplatform.iam.gserviceaccount.com"
}

# Pub/Sub signs the tokens of its pushes as this account.
resource "google_service_account_iam_member" "push_tokens" {
  service_account_id = google_service_account.push.name
  role               = "roles/iam.serviceAccountOpenIdTokenCreator"
  member             = local.pubsub_agent
}

# Logs belong to the project.
resource "google_project_iam_member" "build_logs" {
  project = var.project_id
  role    = "roles/logging.logWriter"
  member  = google_service_account.build.member
}

resource "google_artifact_registry_repository_iam_member" "build" {
  project    = var.project_id
  location   = var.region
  repository = google_artifact_registry_repository.images.name
  role       = "roles/artifactregistry.writer"
  member     = google_service_account.build.member
}

# Cloud Functions copies the archive to a bucket of its own, which the first deployment makes: a right can
# only be given on it by its name. Objects are listed on the bucket itself, whose name ends without a slash; a bucket
# whose name only begins alike is none of the two.
resource "google_project_iam_member" "build_sources" {
  project = var.project_id
  role    = "roles/storage.objectViewer"
  member  = google_service_account.build.member

  condition {
    title       = "recap-sources"
    description = "The archive and the copy that Cloud Functions makes of it."
    expression = join(" || ", [
      for bucket in [google_storage_bucket.source.name, "gcf-v2-sources-${local.project_number}-${var.region}"] :
      "resource.name == \"projects/_/buckets/${bucket}\" || resource.name.startsWith(\"projects/_/buckets/${bucket}/\")"
    ])
  }
}

# A right that was just given is not known everywhere: "typically 2 minutes, potentially 7 minutes or longer"
# (Google, "Access change propagation"). Without it a build cannot read its archive, and an instance not its secrets.
resource "time_sleep" "rights" {
  create_duration = "120s"

  triggers = {
    accounts = join(" ", [for account in [google_service_account.build, google_service_account.chat, google_service_account.compaction] : account.unique_id])
    database = var.database_id
    region   = var.region
    secrets  = join(" ", keys(local.secret_versions))
  }

  depends_on = [
    google_artifact_registry_repository_iam_member.build,
    google_project_iam_member.build_logs,
    google_project_iam_member.build_sources,
    google_project_iam_member.firestore,
    google_project_iam_member.vertex,
    google_secret_manager_secret_iam_member.functions,
  ]
}
