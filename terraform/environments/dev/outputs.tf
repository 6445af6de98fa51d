output "chat_url" {
  description = "Address of the API."
  value       = module.recap.chat_url
}

output "dead_letter_subscriptions" {
  description = "Subscriptions that keep what could not be delivered."
  value       = module.recap.dead_letter_subscriptions
}

output "keep_cpu_command" {
  description = "Has chat keep its CPU between requests, billed by the instance."
  value       = module.recap.keep_cpu_command
}

output "recap" {
  description = "Everything that the module tells."
  value       = module.recap
}
