output "chat_url" {
  description = "Address of the API."
  value       = module.recap.chat_url
}

output "recap" {
  description = "Everything that the module tells."
  value       = module.recap
}
