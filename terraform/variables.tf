# Where

variable "project_id" {
  description = "Google Cloud project that everything is made in."
  type        = string

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{4,28}[a-z0-9]$", var.project_id)) && !startswith(var.project_id, "demo-")
    error_message = "project_id must be the id of a project, 6 to 30 lower-case letters, digits and hyphens, such as recap-prod-4711. It must not begin with demo-: such projects accept requests without a signature."
  }
}

variable "region" {
  description = "Region of functions, topics, buckets and schedule; of the database, too, unless database_location says otherwise."
  type        = string
  default     = "us-central1"

  validation {
    condition     = can(regex("^[a-z]+-[a-z]+[0-9]+$", var.region))
    error_message = "region must be a region such as us-central1 or europe-west1, neither a zone nor a multi-region."
  }
}

variable "name" {
  description = "What the names of all resources begin with; a second deployment in one project takes another, and another database_id."
  type        = string
  default     = "recap"

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{0,17}[a-z0-9]$", var.name))
    error_message = "name must be 2 to 19 lower-case letters, digits and hyphens, beginning with a letter and not ending with a hyphen: ids of service accounts are made of it."
  }
}

variable "labels" {
  description = "Labels of every resource that can have some."
  type        = map(string)
  default     = {}

  validation {
    condition     = alltrue([for key, value in var.labels : can(regex("^[a-z][a-z0-9_-]{0,62}$", key)) && can(regex("^[a-z0-9_-]{0,63}$", value))])
    error_message = "labels must have lower-case letters, digits, _ and - alone, 63 characters at most, and keys that begin with a letter."
  }
}

# What is deployed

variable "source_archive" {
  description = "Path of the archive that `npm run package` writes: dist/recap.zip."
  type        = string

  validation {
    condition     = endswith(var.source_archive, ".zip") && can(filesha256(var.source_archive))
    error_message = "source_archive must be the path of a zip file that exists; `npm run package` writes dist/recap.zip."
  }
}

variable "settings" {
  description = "Environment variables of both functions, by name, as docs/reference/configuration.md lists them. Those that other variables set, and secrets, cannot be set here."
  type        = map(string)
  default     = {}

  validation {
    condition     = length(setsubtract(keys(var.settings), jsondecode(file("${path.module}/settings.json")))) == 0
    error_message = "settings has names that it may not have: ${join(", ", setsubtract(keys(var.settings), jsondecode(file("${path.module}/settings.json"))))}. terraform/settings.json lists those that it may; secrets and what names resources have variables of their own."
  }
}

variable "app_settings" {
  description = "Environment variables of both functions that the code of your app reads, by name. Names of Recap's own, and those that Cloud Run reserves, cannot be set here."
  type        = map(string)
  default     = {}

  validation {
    condition     = alltrue([for name in keys(var.app_settings) : can(regex("^[A-Z][A-Z0-9_]*$", name)) && !can(regex("^(GOOGLE_|FIREBASE_|FIRESTORE_|PUBSUB_|FUNCTION_|K_|NODE_|PORT$|GEMINI_|VERTEX_|HOOK_)", name))])
    error_message = "app_settings takes names of capitals, digits and _ that begin with a letter, and with none of GOOGLE_, FIREBASE_, FIRESTORE_, PUBSUB_, FUNCTION_, K_, NODE_, GEMINI_, VERTEX_ and HOOK_, e.g. ACME_URL."
  }
  validation {
    condition     = length(setintersection(keys(var.app_settings), jsondecode(file("${path.module}/settings.json")))) == 0
    error_message = "app_settings has names of Recap's own; set them in settings."
  }
}

variable "app_secrets" {
  description = "Secrets that the code of your app reads from environment variables, by their names. Needed at every apply, stored in Secret Manager alone, and read again only when app_secret_versions says a higher number."
  type        = map(string)
  ephemeral   = true
  sensitive   = true
  default     = {}
}

variable "app_secret_versions" {
  description = "Which of app_secrets there are, each with a version that is raised to have a new value stored and the functions deployed with it, e.g. { ACME_API_KEY = 1 }."
  type        = map(number)
  default     = {}

  validation {
    condition     = alltrue([for version in values(var.app_secret_versions) : version >= 1 && floor(version) == version])
    error_message = "app_secret_versions must be whole numbers from 1 up."
  }
  validation {
    condition     = alltrue([for name in keys(var.app_secret_versions) : can(regex("^[A-Z][A-Z0-9_]{0,99}$", name)) && !contains(["GEMINI_API_KEY", "HOOK_SIGNING_KEY"], name)])
    error_message = "app_secret_versions takes names of capitals, digits and _ that begin with a letter; GEMINI_API_KEY and HOOK_SIGNING_KEY have variables of their own."
  }
}

variable "chat" {
  description = "Size of the chat function: CPUs, memory, requests at the same time on one instance, instances, and the longest request. One instance at least has the first message of the morning answered two seconds sooner, for the price of an idle instance."
  type = object({
    cpu             = optional(number, 1)
    memory_mib      = optional(number, 512)
    concurrency     = optional(number, 40)
    min_instances   = optional(number, 0)
    max_instances   = optional(number, 15)
    timeout_seconds = optional(number, 540)
  })
  default = {}

  validation {
    condition     = contains([1, 2, 4, 8], var.chat.cpu) || (var.chat.cpu >= 0.08 && var.chat.cpu < 1)
    error_message = "chat.cpu must be 1, 2, 4, 8, or from 0.08 to below 1."
  }
  validation {
    condition     = var.chat.concurrency == 1 || var.chat.cpu >= 1
    error_message = "chat.concurrency above 1 needs chat.cpu of 1 or more: Cloud Run refuses it otherwise."
  }
  validation {
    condition     = var.chat.concurrency >= 1 && var.chat.concurrency <= 1000 && floor(var.chat.concurrency) == var.chat.concurrency
    error_message = "chat.concurrency must be a whole number from 1 to 1000."
  }
  validation {
    condition     = var.chat.memory_mib >= try(local.memory_mib_of_cpus[tostring(var.chat.cpu)].least, 512) && var.chat.memory_mib <= try(local.memory_mib_of_cpus[tostring(var.chat.cpu)].most, var.chat.cpu >= 0.5 ? 1024 : 512)
    error_message = "chat.memory_mib must be 512 or more, for the function takes 160 MiB and caches 32 MiB, and what Cloud Run gives to chat.cpu: at most 512 below half a CPU, 1024 below one, 4096 with 1, 8192 with 2; 2048 to 16384 with 4; 4096 to 32768 with 8."
  }
  validation {
    condition     = var.chat.min_instances >= 0 && var.chat.max_instances >= 1 && var.chat.min_instances <= var.chat.max_instances && var.chat.max_instances <= 1000
    error_message = "chat.min_instances must be from 0 to chat.max_instances, and chat.max_instances from 1 to 1000."
  }
  validation {
    condition     = var.chat.timeout_seconds >= 60 && var.chat.timeout_seconds <= 3600
    error_message = "chat.timeout_seconds must be from 60 to 3600."
  }
  validation {
    condition     = var.chat.timeout_seconds >= 330
    error_message = "chat.timeout_seconds must leave 30 seconds more than the longest answer, 300 seconds: an answer that Cloud Run cuts off is lost."
  }
}

variable "compaction" {
  description = "Size of the worker, as of chat. A push must be answered within its acknowledgement deadline of 600 seconds."
  type = object({
    cpu             = optional(number, 1)
    memory_mib      = optional(number, 512)
    concurrency     = optional(number, 8)
    min_instances   = optional(number, 0)
    max_instances   = optional(number, 5)
    timeout_seconds = optional(number, 540)
  })
  default = {}

  validation {
    condition     = contains([1, 2, 4, 8], var.compaction.cpu) || (var.compaction.cpu >= 0.08 && var.compaction.cpu < 1)
    error_message = "compaction.cpu must be 1, 2, 4, 8, or from 0.08 to below 1."
  }
  validation {
    condition     = var.compaction.concurrency == 1 || var.compaction.cpu >= 1
    error_message = "compaction.concurrency above 1 needs compaction.cpu of 1 or more: Cloud Run refuses it otherwise."
  }
  validation {
    condition     = var.compaction.concurrency >= 1 && var.compaction.concurrency <= 1000 && floor(var.compaction.concurrency) == var.compaction.concurrency
    error_message = "compaction.concurrency must be a whole number from 1 to 1000."
  }
  validation {
    condition     = var.compaction.memory_mib >= try(local.memory_mib_of_cpus[tostring(var.compaction.cpu)].least, 512) && var.compaction.memory_mib <= try(local.memory_mib_of_cpus[tostring(var.compaction.cpu)].most, var.compaction.cpu >= 0.5 ? 1024 : 512)
    error_message = "compaction.memory_mib must be 512 or more, and what Cloud Run gives to compaction.cpu, as of chat."
  }
  validation {
    condition     = var.compaction.min_instances >= 0 && var.compaction.max_instances >= 1 && var.compaction.min_instances <= var.compaction.max_instances && var.compaction.max_instances <= 1000
    error_message = "compaction.min_instances must be from 0 to compaction.max_instances, and compaction.max_instances from 1 to 1000."
  }
  validation {
    condition     = var.compaction.timeout_seconds >= 530
    error_message = "compaction.timeout_seconds must leave 30 seconds more than the longest compaction, 500 seconds: a worker that is cut off leaves its lease to run out."
  }
}

variable "chat_is_public" {
  description = "Whether anybody may call chat, which checks the ID token of each request itself. false leaves the right to you, where a policy of the organisation forbids allUsers."
  type        = bool
  default     = true
}

variable "chat_ingress" {
  description = "Where requests of chat may come from: ALLOW_ALL, or ALLOW_INTERNAL_AND_GCLB behind a load balancer (examples/load-balancer)."
  type        = string
  default     = "ALLOW_ALL"

  validation {
    condition     = contains(["ALLOW_ALL", "ALLOW_INTERNAL_AND_GCLB"], var.chat_ingress)
    error_message = "chat_ingress must be ALLOW_ALL or ALLOW_INTERNAL_AND_GCLB: apps call chat from outside."
  }
}

variable "push_audience" {
  description = "Audience of the tokens that Pub/Sub pushes with. null: the worker's own address, which Cloud Run takes. Another must be one of its custom audiences."
  type        = string
  default     = null

  validation {
    condition     = var.push_audience == null || can(regex("^https://[^/\\s]+", var.push_audience))
    error_message = "push_audience must be an https address: custom audiences of Cloud Run are."
  }
}

variable "vpc_egress" {
  description = "VPC network that the functions reach the outside through. null: none, the internet directly."
  type = object({
    network    = string
    subnetwork = string
    traffic    = optional(string, "VPC_EGRESS_PRIVATE_RANGES_ONLY")
  })
  default = null

  validation {
    condition     = var.vpc_egress == null || contains(["VPC_EGRESS_PRIVATE_RANGES_ONLY", "VPC_EGRESS_ALL_TRAFFIC"], try(var.vpc_egress.traffic, ""))
    error_message = "vpc_egress.traffic must be VPC_EGRESS_PRIVATE_RANGES_ONLY or VPC_EGRESS_ALL_TRAFFIC."
  }
}

variable "sweep_schedule" {
  description = "When the sweep runs, as cron says it. Work that a worker left for later, or that died with one, waits for it; the alert on a missing sweep counts on one in ten minutes."
  type        = string
  default     = "*/5 * * * *"

  validation {
    condition     = can(regex("^(\\*|\\*/[1-5]) \\* \\* \\* \\*$", var.sweep_schedule))
    error_message = "sweep_schedule must be */N * * * * with N from 1 to 5: what nobody came back to waits for it."
  }
}

# Model

variable "model_access" {
  description = "How the functions ask the model: vertex (Vertex AI as their service accounts, without a key) or gemini_api_key (the Gemini API with a key in Secret Manager)."
  type        = string
  default     = "vertex"

  validation {
    condition     = contains(["vertex", "gemini_api_key"], var.model_access)
    error_message = "model_access must be vertex or gemini_api_key."
  }
}

variable "vertex_project" {
  description = "Project whose Vertex AI answers. null: project_id. In another one its API is enabled, which takes rights there."
  type        = string
  default     = null

  validation {
    condition     = var.vertex_project == null || can(regex("^[a-z][a-z0-9-]{4,28}[a-z0-9]$", var.vertex_project))
    error_message = "vertex_project must be the id of a project, such as recap-models-4711."
  }
}

variable "vertex_location" {
  description = "Location of Vertex AI."
  type        = string
  default     = "global"

  validation {
    condition     = can(regex("^(global|us|eu|[a-z]+-[a-z]+[0-9]+)$", var.vertex_location))
    error_message = "vertex_location must be global, us, eu, or a region such as europe-west1."
  }
}

# Secrets

variable "gemini_api_key" {
  description = "Key of the Gemini API. Needed at every apply where model_access is gemini_api_key, stored in Secret Manager alone, and read again only when secret_versions.gemini_api_key rises."
  type        = string
  ephemeral   = true
  sensitive   = true
  default     = null

  validation {
    condition     = var.model_access != "gemini_api_key" || (var.gemini_api_key != null && var.gemini_api_key != "")
    error_message = "gemini_api_key must be set where model_access is gemini_api_key."
  }
}

variable "hook_signing_key" {
  description = "Secret that signs webhook calls, 32 characters or more. Needed where hook_hosts names hosts, as gemini_api_key is."
  type        = string
  ephemeral   = true
  sensitive   = true
  default     = null

  validation {
    condition     = length(var.hook_hosts) == 0 || try(length(var.hook_signing_key) >= 32, false)
    error_message = "hook_signing_key must be set, with 32 characters or more, where hook_hosts names hosts: calls are signed."
  }
}

variable "secret_versions" {
  description = "Raise one to have a new value of that secret stored and the functions deployed with it."
  type = object({
    gemini_api_key   = optional(number, 1)
    hook_signing_key = optional(number, 1)
  })
  default = {}

  validation {
    condition     = alltrue([for version in values(var.secret_versions) : version >= 1 && floor(version) == version])
    error_message = "secret_versions must be whole numbers from 1 up."
  }
}

# Data

variable "deletion_protection" {
  description = "Whether `terraform destroy` is refused, before it destroys anything. Turn it off, apply, then destroy."
  type        = bool
  default     = true
}

variable "create_database" {
  description = "Whether the database is made here. false: database_id is there already and keeps its settings; indexes, TTL policies and backups are added to it."
  type        = bool
  default     = true
}

variable "database_id" {
  description = "Firestore database. Security rules of apps and Firebase's client libraries look at (default) first."
  type        = string
  default     = "(default)"

  validation {
    condition     = var.database_id == "(default)" || can(regex("^[a-z][a-z0-9-]{2,61}[a-z0-9]$", var.database_id))
    error_message = "database_id must be (default), or 4 to 63 lower-case letters, digits and hyphens."
  }
}

variable "database_location" {
  description = "Location of the database, which can never be changed: a region, nam5, nam7 or eur3. null: region."
  type        = string
  default     = null

  validation {
    condition     = var.database_location == null || can(regex("^(nam5|nam7|eur3|[a-z]+-[a-z]+[0-9]+)$", var.database_location))
    error_message = "database_location must be a region such as europe-west1, or nam5, nam7 or eur3."
  }
}

variable "point_in_time_recovery" {
  description = "Whether the database can be read as it was at any minute of the last seven days."
  type        = bool
  default     = true
}

variable "daily_backups_kept_days" {
  description = "How long a daily backup is kept, in days; 0: none is made."
  type        = number
  default     = 7

  validation {
    condition     = var.daily_backups_kept_days >= 0 && var.daily_backups_kept_days <= 98
    error_message = "daily_backups_kept_days must be from 0 to 98: Firestore keeps a backup for 14 weeks at most."
  }
}

variable "weekly_backups_kept_weeks" {
  description = "How long a weekly backup is kept, in weeks; 0: none is made. What a user erases stands in backups until they end."
  type        = number
  default     = 4

  validation {
    condition     = var.weekly_backups_kept_weeks >= 0 && var.weekly_backups_kept_weeks <= 14
    error_message = "weekly_backups_kept_weeks must be from 0 to 14: Firestore keeps no backup longer."
  }
}

variable "erasures_kept_days" {
  description = "How long the log tells who was erased, in days, for who restores a backup. null: a week longer than backups are kept here; more where the database has other backups."
  type        = number
  default     = null

  validation {
    condition     = var.erasures_kept_days == null || try(var.erasures_kept_days >= 1 && var.erasures_kept_days <= 3650 && floor(var.erasures_kept_days) == var.erasures_kept_days, false)
    error_message = "erasures_kept_days must be a whole number from 1 to 3650: Cloud Logging keeps nothing longer."
  }
  validation {
    condition     = var.erasures_kept_days == null || try(var.erasures_kept_days >= local.backups_kept_days, false)
    error_message = "erasures_kept_days must be at least as long as the longest backup is kept, daily_backups_kept_days or weekly_backups_kept_weeks: else nobody knows who is to be erased again in it."
  }
}

variable "manage_firestore_rules" {
  description = "Whether the security rules of the database are those of infra/firestore. false where the database has rules of another app, into which they are to be merged by hand."
  type        = bool
  default     = true
}

variable "uploads" {
  description = "Whether users may attach files: a bucket for them."
  type        = bool
  default     = true
}

variable "cors_origins" {
  description = "Origins whose pages may call the API and upload from a browser, such as https://app.example.com. Empty: none; apps on phones need none."
  type        = list(string)
  default     = []

  validation {
    condition     = alltrue([for origin in var.cors_origins : can(regex("^(\\*|https?://[^/\\s]+)$", origin))])
    error_message = "cors_origins must be origins such as https://app.example.com, without a path, or *."
  }
}

# Who acts for users

variable "admin_service_accounts" {
  description = "E-mails of the service accounts of your servers that may act for any user. Empty: nobody may."
  type        = list(string)
  default     = []

  validation {
    condition     = alltrue([for account in var.admin_service_accounts : can(regex("^[^@\\s,]+@[^@\\s,]+\\.gserviceaccount\\.com$", account))])
    error_message = "admin_service_accounts must be e-mails of service accounts, such as backend@my-app.iam.gserviceaccount.com."
  }
}

# Who is told

variable "fcm_project" {
  description = "Firebase project through which devices are notified. null: none is."
  type        = string
  default     = null

  validation {
    condition     = var.fcm_project == null || can(regex("^[a-z][a-z0-9-]{4,28}[a-z0-9]$", var.fcm_project))
    error_message = "fcm_project must be the id of a Firebase project, such as my-app-4711."
  }
}

variable "event_webhook_url" {
  description = "Address that is told of every turn and compaction; hook_hosts must name its host. null: none is."
  type        = string
  default     = null

  validation {
    condition     = var.event_webhook_url == null || can(regex("^https://[^/@]+", var.event_webhook_url))
    error_message = "event_webhook_url must be an https address without a user name."
  }
  validation {
    condition     = var.event_webhook_url == null || contains(var.hook_hosts, try(regex("^https://([^/@]+)", var.event_webhook_url)[0], ""))
    error_message = "event_webhook_url must have a host that hook_hosts names."
  }
}

variable "hook_hosts" {
  description = "Hosts that webhooks may call, with :port where it is not 443. Empty: none is called."
  type        = list(string)
  default     = []

  validation {
    condition     = alltrue([for host in var.hook_hosts : can(regex("^[A-Za-z0-9.-]+(:[0-9]{1,5})?$", host))])
    error_message = "hook_hosts must be hosts such as hooks.example.com or hooks.example.com:8443, without https:// and without a path."
  }
}

# Operation

variable "observability" {
  description = "What Cloud Monitoring gets: full (metrics of logs, dashboard, all alerts, objectives; the first apply takes ten minutes longer), basic (no objectives, and no alerts of the severity WARNING) or none (logs alone)."
  type        = string
  default     = "full"

  validation {
    condition     = contains(["full", "basic", "none"], var.observability)
    error_message = "observability must be full, basic or none."
  }
}

variable "notification_emails" {
  description = "Addresses that alerts are sent to."
  type        = list(string)
  default     = []

  validation {
    condition     = alltrue([for address in var.notification_emails : can(regex("^[^@\\s]+@[^@\\s]+$", address))])
    error_message = "notification_emails must be e-mail addresses."
  }
}

variable "notification_channels" {
  description = "Names of further notification channels, projects/P/notificationChannels/N, for Slack, PagerDuty and others."
  type        = list(string)
  default     = []

  validation {
    condition     = alltrue([for channel in var.notification_channels : can(regex("^projects/[^/]+/notificationChannels/[^/]+$", channel))])
    error_message = "notification_channels must be names such as projects/my-project/notificationChannels/123."
  }
}

variable "alert_thresholds" {
  description = "From what on alerts are raised. Units stand last in the names; shares are of 1."
  type = object({
    turn_failed_share       = optional(number, 0.05)
    turn_p95_seconds        = optional(number, 60)
    first_token_p95_seconds = optional(number, 8)
    compaction_failed_share = optional(number, 0.2)
    compaction_lag_minutes  = optional(number, 15)
    summary_refused_share   = optional(number, 0.05)
    backlog_age_minutes     = optional(number, 20)
    breakers_per_hour       = optional(number, 10)
    cost_usd_per_hour       = optional(number, 10)
    tokens_per_hour         = optional(number, 50000000)
  })
  default = {}

  validation {
    condition     = alltrue([for threshold in values(var.alert_thresholds) : threshold > 0])
    error_message = "alert_thresholds must be above 0."
  }
  validation {
    condition     = alltrue([for name, threshold in var.alert_thresholds : threshold < 1 if endswith(name, "_share")])
    error_message = "The alert_thresholds whose names end in _share are shares: above 0 and below 1."
  }
}

variable "budget" {
  description = "Budget of the project: mails go out at half, nine tenths and all of it. It stops nothing; settings.GLOBAL_DAILY_USD does. null: none."
  type = object({
    billing_account = string
    monthly_amount  = number
    currency        = optional(string, "USD")
  })
  default = null

  validation {
    condition     = var.budget == null || can(regex("^[0-9A-F]{6}-[0-9A-F]{6}-[0-9A-F]{6}$", var.budget.billing_account))
    error_message = "budget.billing_account must be the id of a billing account, such as 012345-6789AB-CDEF01."
  }
  validation {
    condition     = var.budget == null || try(var.budget.monthly_amount >= 1, false)
    error_message = "budget.monthly_amount must be 1 or more, in whole units of budget.currency."
  }
}
