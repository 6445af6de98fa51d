# Secret values pass through Terraform and are kept by it nowhere: ephemeral variables, write-only arguments.

locals {
  # Which there are, with the version that the operator counts up to rotate one.
  secret_versions = merge(
    local.uses_vertex ? {} : { GEMINI_API_KEY = var.secret_versions.gemini_api_key },
    local.calls_webhooks ? { HOOK_SIGNING_KEY = var.secret_versions.hook_signing_key } : {},
    var.app_secret_versions,
  )

  secret_values = merge(var.app_secrets, {
    GEMINI_API_KEY   = var.gemini_api_key
    HOOK_SIGNING_KEY = var.hook_signing_key
  })
}

resource "google_secret_manager_secret" "secret" {
  for_each = local.secret_versions

  project             = var.project_id
  secret_id           = "${var.name}-${lower(replace(each.key, "_", "-"))}"
  labels              = var.labels
  deletion_protection = var.deletion_protection

  replication {
    auto {}
  }

  depends_on = [time_sleep.apis]
}

resource "google_secret_manager_secret_version" "value" {
  for_each = local.secret_versions

  secret                 = google_secret_manager_secret.secret[each.key].id
  secret_data_wo         = local.secret_values[each.key]
  secret_data_wo_version = each.value
  # An instance that is still running, and a roll-back, read the version before.
  deletion_policy = "ABANDON"

  lifecycle {
    create_before_destroy = true
  }
}

resource "google_secret_manager_secret_iam_member" "functions" {
  for_each = {
    for pair in setproduct(keys(local.secret_versions), keys(local.function_members)) :
    "${pair[0]}-${pair[1]}" => { secret = pair[0], function = pair[1] }
  }

  project   = var.project_id
  secret_id = google_secret_manager_secret.secret[each.value.secret].secret_id
  role      = "roles/secretmanager.secretAccessor"
  member    = local.function_members[each.value.function]

  # An instance that starts while a secret is taken away still reads it.
  lifecycle {
    create_before_destroy = true
  }
}
