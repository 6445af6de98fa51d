# The database, and what of it is no data: indexes, exemptions and TTL policies from the file that
# firebase.json names too, and the security rules.

locals {
  firestore_directory = "${path.module}/../infra/firestore"
  firestore_indexes   = jsondecode(file("${local.firestore_directory}/firestore.indexes.json"))

  indexes = {
    for index in local.firestore_indexes.indexes :
    "${index.collectionGroup}.${join(",", [for field in index.fields : "${field.fieldPath} ${field.order}"])}" => index
  }
  # One resource for a field: TTL policy and exemption are two halves of one setting.
  field_overrides = {
    for field in local.firestore_indexes.fieldOverrides : "${field.collectionGroup}.${field.fieldPath}" => field
  }

  database_id = var.create_database ? google_firestore_database.this[0].name : var.database_id
}

resource "google_firestore_database" "this" {
  count = var.create_database ? 1 : 0

  project     = var.project_id
  name        = var.database_id
  location_id = coalesce(var.database_location, var.region)
  type        = "FIRESTORE_NATIVE"

  point_in_time_recovery_enablement = var.point_in_time_recovery ? "POINT_IN_TIME_RECOVERY_ENABLED" : "POINT_IN_TIME_RECOVERY_DISABLED"
  delete_protection_state           = var.deletion_protection ? "DELETE_PROTECTION_ENABLED" : "DELETE_PROTECTION_DISABLED"
  deletion_policy                   = var.deletion_protection ? "ABANDON" : "DELETE"

  depends_on = [time_sleep.apis]
}

resource "google_firestore_backup_schedule" "daily" {
  count = var.daily_backups_kept_days > 0 ? 1 : 0

  project   = var.project_id
  database  = local.database_id
  retention = "${var.daily_backups_kept_days * 86400}s"

  daily_recurrence {}
}

resource "google_firestore_backup_schedule" "weekly" {
  count = var.weekly_backups_kept_weeks > 0 ? 1 : 0

  project   = var.project_id
  database  = local.database_id
  retention = "${var.weekly_backups_kept_weeks * 604800}s"

  weekly_recurrence {
    day = "SUNDAY"
  }
}

resource "google_firestore_index" "composite" {
  for_each = local.indexes

  project     = var.project_id
  database    = local.database_id
  collection  = each.value.collectionGroup
  query_scope = each.value.queryScope

  dynamic "fields" {
    for_each = each.value.fields
    content {
      field_path = fields.value.fieldPath
      order      = fields.value.order
    }
  }
}

resource "google_firestore_field" "override" {
  for_each = local.field_overrides

  project    = var.project_id
  database   = local.database_id
  collection = each.value.collectionGroup
  field      = each.value.fieldPath

  index_config {
    dynamic "indexes" {
      for_each = each.value.indexes
      content {
        order       = lookup(indexes.value, "order", null)
        query_scope = lookup(indexes.value, "queryScope", "COLLECTION")
      }
    }
  }

  dynamic "ttl_config" {
    for_each = lookup(each.value, "ttl", false) ? [true] : []
    content {}
  }
}

resource "google_firebaserules_ruleset" "firestore" {
  count = var.manage_firestore_rules ? 1 : 0

  project = var.project_id

  source {
    files {
      name    = "firestore.rules"
      content = file("${local.firestore_directory}/firestore.rules")
    }
  }

  lifecycle {
    create_before_destroy = true
  }
  depends_on = [time_sleep.apis]
}

resource "google_firebaserules_release" "firestore" {
  count = var.manage_firestore_rules ? 1 : 0

  project      = var.project_id
  name         = local.database_id == "(default)" ? "cloud.firestore" : "cloud.firestore/${local.database_id}"
  ruleset_name = "projects/${var.project_id}/rulesets/${google_firebaserules_ruleset.firestore[0].name}"
}
