# A whole deployment whose chat is behind a global load balancer with Cloud Armor: a domain of your own, and limits by address
# before a request costs anything. Streams pass through unbuffered. From about 20 dollars a month. For a deployment that is
# there: copy what is not the module, and its `chat_ingress`.

terraform {
  required_version = ">= 1.11"

  required_providers {
    google = {
      source  = "hashicorp/google"
      version = "~> 7.33"
    }
    time = {
      source  = "hashicorp/time"
      version = "~> 0.13"
    }
  }
}

provider "google" {
  project = var.project_id
  region  = var.region
  # Billing of budgets and Firebase APIs go by this project, not by that of gcloud.
  user_project_override = true
  billing_project       = var.project_id
}

module "recap" {
  source = "../.."

  project_id     = var.project_id
  region         = var.region
  source_archive = var.source_archive
  # From the internet only through the load balancer.
  chat_ingress = "ALLOW_INTERNAL_AND_GCLB"
}

resource "google_project_service" "compute" {
  project            = var.project_id
  service            = "compute.googleapis.com"
  disable_on_destroy = false
}

resource "time_sleep" "compute" {
  create_duration = "60s"

  depends_on = [google_project_service.compute]
}

resource "google_compute_global_address" "chat" {
  project = var.project_id
  name    = "recap-chat"

  depends_on = [time_sleep.compute]
}

resource "google_compute_region_network_endpoint_group" "chat" {
  project               = var.project_id
  region                = var.region
  name                  = "recap-chat"
  network_endpoint_type = "SERVERLESS"

  cloud_run {
    service = module.recap.chat_service
  }

  depends_on = [time_sleep.compute]
}

resource "google_compute_security_policy" "chat" {
  project     = var.project_id
  name        = "recap-chat"
  description = "Recap: a limit for each address, far above what a person does."

  rule {
    priority = 1000
    action   = "throttle"
    match {
      versioned_expr = "SRC_IPS_V1"
      config {
        src_ip_ranges = ["*"]
      }
    }
    rate_limit_options {
      conform_action = "allow"
      exceed_action  = "deny(429)"
      enforce_on_key = "IP"
      rate_limit_threshold {
        count        = var.requests_per_minute
        interval_sec = 60
      }
    }
  }
  rule {
    priority = 2147483647
    action   = "allow"
    match {
      versioned_expr = "SRC_IPS_V1"
      config {
        src_ip_ranges = ["*"]
      }
    }
  }

  depends_on = [time_sleep.compute]
}

resource "google_compute_backend_service" "chat" {
  project               = var.project_id
  name                  = "recap-chat"
  load_balancing_scheme = "EXTERNAL_MANAGED"
  protocol              = "HTTPS"
  security_policy       = google_compute_security_policy.chat.id

  backend {
    group = google_compute_region_network_endpoint_group.chat.id
  }
}

resource "google_compute_url_map" "chat" {
  project         = var.project_id
  name            = "recap-chat"
  default_service = google_compute_backend_service.chat.id
}

# A certificate cannot be changed, and not be deleted while the proxy uses it: one for another domain has another name and
# is made first.
resource "google_compute_managed_ssl_certificate" "chat" {
  project = var.project_id
  name    = "recap-chat-${substr(sha256(var.domain), 0, 8)}"

  managed {
    domains = [var.domain]
  }

  lifecycle {
    create_before_destroy = true
  }
  depends_on = [time_sleep.compute]
}

resource "google_compute_ssl_policy" "chat" {
  project         = var.project_id
  name            = "recap-chat"
  profile         = "MODERN"
  min_tls_version = "TLS_1_2"

  depends_on = [time_sleep.compute]
}

resource "google_compute_target_https_proxy" "chat" {
  project          = var.project_id
  name             = "recap-chat"
  url_map          = google_compute_url_map.chat.id
  ssl_certificates = [google_compute_managed_ssl_certificate.chat.id]
  ssl_policy       = google_compute_ssl_policy.chat.id
}

resource "google_compute_global_forwarding_rule" "chat" {
  project               = var.project_id
  name                  = "recap-chat"
  load_balancing_scheme = "EXTERNAL_MANAGED"
  ip_address            = google_compute_global_address.chat.id
  port_range            = "443"
  target                = google_compute_target_https_proxy.chat.id
}

# Port 80 answers with the same address by https, before anything of a request is used.
resource "google_compute_url_map" "redirect" {
  project = var.project_id
  name    = "recap-chat-redirect"

  default_url_redirect {
    https_redirect         = true
    redirect_response_code = "PERMANENT_REDIRECT"
    strip_query            = false
  }

  depends_on = [time_sleep.compute]
}

resource "google_compute_target_http_proxy" "redirect" {
  project = var.project_id
  name    = "recap-chat-redirect"
  url_map = google_compute_url_map.redirect.id
}

resource "google_compute_global_forwarding_rule" "redirect" {
  project               = var.project_id
  name                  = "recap-chat-redirect"
  load_balancing_scheme = "EXTERNAL_MANAGED"
  ip_address            = google_compute_global_address.chat.id
  port_range            = "80"
  target                = google_compute_target_http_proxy.redirect.id
}

# The address that the domain points to goes with nothing but a destroy that the module allows, too.
resource "terraform_data" "protection" {
  input            = module.recap.deletion_protection
  triggers_replace = [var.project_id, var.region]

  provisioner "local-exec" {
    when    = destroy
    quiet   = true
    command = self.output ? "echo Nothing was destroyed: deletion_protection is on. To destroy, or for another project_id, region or name, set it to false and apply first. && exit 1" : "exit 0"
  }

  depends_on = [module.recap, google_compute_global_forwarding_rule.chat, google_compute_global_forwarding_rule.redirect]
}
