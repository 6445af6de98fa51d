terraform {
  # Write-only arguments, by which secrets stay out of the state, came with 1.11.
  required_version = ">= 1.11"

  required_providers {
    google = {
      source  = "hashicorp/google"
      version = "~> 7.20"
    }
  }
}
