variable "project_id" {
  description = "Google Cloud project that everything is made in."
  type        = string
}

variable "region" {
  description = "Region of everything."
  type        = string
  default     = "us-central1"
}

variable "snapshot_keys" {
  description = "Keys that sign snapshots: TF_VAR_snapshot_keys=\"k1:$(openssl rand -base64 32)\" at the first apply. Later applies need any valid value, which is not read unless secret_versions rises."
  type        = string
  ephemeral   = true
  sensitive   = true
}

variable "secret_versions" {
  description = "Raise one to have a new value of that secret stored: docs/operations.md, \"Rotation\"."
  type = object({
    snapshot_keys    = optional(number, 1)
    gemini_api_key   = optional(number, 1)
    hook_signing_key = optional(number, 1)
  })
  default = {}
}

variable "settings" {
  description = "Environment variables of both functions, as docs/reference/configuration.md lists them."
  type        = map(string)
  default     = { GLOBAL_DAILY_USD = "5" }
}

variable "observability" {
  description = "What Cloud Monitoring gets: none (logs alone), basic (metrics, dashboard and the graver alerts) or full, as in ../prod."
  type        = string
  default     = "none"
}

variable "source_archive" {
  description = "Path of the archive that `npm run package` writes."
  type        = string
  default     = "../../../dist/recap.zip"
}
