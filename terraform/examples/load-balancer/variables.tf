variable "project_id" {
  description = "Google Cloud project that everything is made in."
  type        = string
}

variable "region" {
  description = "Region of functions, topics and buckets."
  type        = string
  default     = "us-central1"
}

variable "domain" {
  description = "Name that apps call, such as chat.example.com. Its A record must be the output `address`; the certificate comes some minutes later."
  type        = string

  validation {
    condition     = can(regex("^[a-z0-9-]+(\\.[a-z0-9-]+)+$", var.domain))
    error_message = "domain must be a name such as chat.example.com, without https:// and without a path."
  }
}

variable "requests_per_minute" {
  description = "Requests of one address in a minute. Many phones of one carrier share an address."
  type        = number
  default     = 600

  validation {
    condition     = var.requests_per_minute >= 60 && var.requests_per_minute <= 10000
    error_message = "requests_per_minute must be from 60 to 10000."
  }
}

variable "source_archive" {
  description = "Path of the archive that `npm run package` writes."
  type        = string
  default     = "../../../dist/recap.zip"
}
