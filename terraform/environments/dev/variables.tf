variable "project_id" {
  description = "Google Cloud project that everything is made in."
  type        = string
}

variable "region" {
  description = "Region of everything."
  type        = string
  default     = "us-central1"
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
