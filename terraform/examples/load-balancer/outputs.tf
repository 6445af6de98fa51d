output "address" {
  description = "Address for the A record of the domain."
  value       = google_compute_global_address.chat.address
}

output "chat_url" {
  description = "Address of the API."
  value       = "https://${var.domain}"
}
