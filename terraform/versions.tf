terraform {
  # Write-only arguments, by which secrets stay out of the state, came with 1.11.
  required_version = ">= 1.11"

  required_providers {
    # 7.33 is the first whose log buckets have a deletion_policy.
    google = {
      source  = "hashicorp/google"
      version = "~> 7.33"
    }
    # Waits: what Google was told a moment ago is not known everywhere at once.
    time = {
      source  = "hashicorp/time"
      version = "~> 0.13"
    }
  }
}
