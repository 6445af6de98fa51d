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
  description = "Keys that sign snapshots: TF_VAR_snapshot_keys=\"k1:$(openssl rand -base64 32)\" at the first apply. Later applies need any valid value, which is not read."
  type        = string
  ephemeral   = true
  sensitive   = true
}

variable "source_archive" {
  description = "Path of the archive that `npm run package` writes."
  type        = string
  default     = "../../../dist/recap.zip"
}
