variable "project_id" {
  description = "Google Cloud project that everything is made in."
  type        = string
}

variable "region" {
  description = "Region of functions, topics and buckets."
  type        = string
  default     = "us-central1"
}

variable "database_id" {
  description = "Firestore database. Another one after a restore: docs/operations.md says in which order."
  type        = string
  default     = "(default)"
}

variable "database_location" {
  description = "Location of the database, which can never be changed. A multi-region (nam5, eur3) outlives the loss of a region."
  type        = string
  default     = "nam5"
}

variable "deletion_protection" {
  description = "Whether `terraform destroy`, and another project or region, are refused. Turn it off, apply, then destroy."
  type        = bool
  default     = true
}

variable "settings" {
  description = "Environment variables of both functions, as docs/reference/configuration.md lists them. To decide before anybody comes: APP_CHECK (off), GLOBAL_DAILY_USD (100) and USER_DAILY_USD (5)."
  type        = map(string)
  default     = {}
}

variable "cors_origins" {
  description = "Origins whose pages may call the API from a browser."
  type        = list(string)
  default     = []
}

variable "fcm_project" {
  description = "Firebase project through which devices are notified. null: none is."
  type        = string
  default     = null
}

variable "notification_emails" {
  description = "Addresses that alerts are sent to: one at least."
  type        = list(string)

  validation {
    condition     = length(var.notification_emails) > 0
    error_message = "notification_emails must name one address at least: an alert that nobody gets is none."
  }
}

variable "budget" {
  description = "Budget of the project, as in the module. null: none."
  type = object({
    billing_account = string
    monthly_amount  = number
    currency        = optional(string, "USD")
  })
  default = null
}

variable "source_archive" {
  description = "Path of the archive that `npm run package` writes."
  type        = string
  default     = "../../../dist/recap.zip"
}
