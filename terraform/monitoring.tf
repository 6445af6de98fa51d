# What the functions log, as metrics; what is promised of them, as objectives; what to do when it does not
# hold, as alerts (alerts/*.md); and all of it to look at (dashboard.json.tftpl).

locals {
  has_metrics    = var.observability != "none"
  has_objectives = var.observability == "full"

  chat_logs       = "resource.type=\"cloud_run_revision\" resource.labels.service_name=\"${local.chat_name}\""
  compaction_logs = "resource.type=\"cloud_run_revision\" resource.labels.service_name=\"${local.compaction_name}\""
  all_logs        = "resource.type=\"cloud_run_revision\" resource.labels.service_name=(\"${local.chat_name}\" OR \"${local.compaction_name}\")"

  # Events that are counted, with the fields of the log line that become labels.
  counters = {
    turns = {
      description = "Turns that ended, by state and reason."
      filter      = "${local.chat_logs} jsonPayload.event=\"turn_finished\""
      labels      = { state = "state", reason = "reason" }
    }
    compactions = {
      description = "Attempts at compactions, by outcome, trigger and reason."
      filter      = "${local.compaction_logs} jsonPayload.event=\"chat_compression\""
      labels      = { status = "status", trigger = "trigger", reason = "reason" }
    }
    breakers = {
      description = "Conversations whose summariser is left alone for a while, after it failed again and again."
      filter      = "${local.compaction_logs} jsonPayload.event=\"compaction_breaker_opened\""
      labels      = {}
    }
    sweeps = {
      description = "Sweeps that came to their end."
      filter      = "${local.compaction_logs} jsonPayload.event=\"sweep_finished\""
      labels      = {}
    }
    unpublished = {
      description = "Events and requests that could not be published; the sweep mends requests."
      filter      = "${local.all_logs} jsonPayload.event=(\"compaction_event_not_published\" OR \"turn_event_not_published\" OR \"compaction_publish_failed\" OR \"erase_publish_failed\")"
      labels      = { event = "event" }
    }
    defects = {
      description = "What the code did not expect, by event."
      filter      = "${local.all_logs} severity>=ERROR jsonPayload.event=(\"request\" OR \"compaction_defect\" OR \"compaction_push_failed\" OR \"compaction_push_malformed\" OR \"sweep_failed\")"
      labels      = { event = "event" }
    }
    recall_missed = {
      description = "Messages that were answered without recall because its index was late, missing or not to be read."
      filter      = "${local.chat_logs} jsonPayload.event=(\"recall_late\" OR \"recall_index_unread\" OR \"recall_index_behind\" OR \"recall_failed\")"
      labels      = { event = "event" }
    }
  }

  # Figures of log lines, as distributions. The bounds grow by a third from `from`.
  distributions = {
    turn_ms = {
      description = "How long turns took that were answered."
      filter      = "${local.chat_logs} jsonPayload.event=\"turn_finished\" jsonPayload.state=\"done\""
      field       = "durationMs"
      unit        = "ms"
      from        = 100
    }
    first_token_ms = {
      description = "From the start of an answer to the first word that a reader sees."
      filter      = "${local.chat_logs} jsonPayload.event=\"turn_finished\" jsonPayload.firstTokenMs>=0"
      field       = "firstTokenMs"
      unit        = "ms"
      from        = 100
    }
    compaction_ms = {
      description = "How long compactions took that swapped."
      filter      = "${local.compaction_logs} jsonPayload.event=\"chat_compression\" jsonPayload.status=(\"COMPACTED\" OR \"CONTENT_TRUNCATED\")"
      field       = "durationMs"
      unit        = "ms"
      from        = 100
    }
    compaction_lag_ms = {
      description = "From the turn that crossed the threshold to the swap."
      filter      = "${local.compaction_logs} jsonPayload.event=\"chat_compression\" jsonPayload.status=(\"COMPACTED\" OR \"CONTENT_TRUNCATED\") jsonPayload.trigger!=\"manual\""
      field       = "lagMs"
      unit        = "ms"
      from        = 100
    }
    recall_tokens = {
      description = "What recall put before messages, estimated; messages for which nothing was found have none."
      filter      = "${local.chat_logs} jsonPayload.event=\"turn_recalled\" jsonPayload.tokens>0"
      field       = "tokens"
      unit        = "1"
      from        = 10
    }
    recall_ms = {
      description = "How long a turn waited for the index of recall, and looked it up."
      filter      = "${local.chat_logs} jsonPayload.event=\"turn_recalled\""
      field       = "tookMs"
      unit        = "ms"
      from        = 1
    }
    cost_micros = {
      description = "What calls of models cost, in millionths of a US dollar."
      filter      = "${local.all_logs} jsonPayload.event=(\"turn_finished\" OR \"chat_compression\" OR \"title_made\" OR \"title_refused\") jsonPayload.costMicros>0"
      field       = "costMicros"
      unit        = "1"
      from        = 10
    }
    prompt_tokens = {
      description = "Tokens that models read."
      filter      = "${local.all_logs} jsonPayload.event=(\"turn_finished\" OR \"chat_compression\" OR \"title_made\" OR \"title_refused\") jsonPayload.promptTokens>0"
      field       = "promptTokens"
      unit        = "1"
      from        = 10
    }
    output_tokens = {
      description = "Tokens that models wrote."
      filter      = "${local.all_logs} jsonPayload.event=(\"turn_finished\" OR \"chat_compression\" OR \"title_made\" OR \"title_refused\") jsonPayload.outputTokens>0"
      field       = "outputTokens"
      unit        = "1"
      from        = 10
    }
  }

  metric_prefix = replace(var.name, "-", "_")
  # As queries name a metric of logs, up to its own name.
  query_prefix = "logging_googleapis_com:user_${local.metric_prefix}"
}

resource "google_logging_metric" "counter" {
  for_each = local.has_metrics ? local.counters : {}

  project     = var.project_id
  name        = "${local.metric_prefix}_${each.key}"
  description = "Recap: ${each.value.description}"
  filter      = each.value.filter

  metric_descriptor {
    metric_kind  = "DELTA"
    value_type   = "INT64"
    unit         = "1"
    display_name = "Recap: ${replace(each.key, "_", " ")}"

    dynamic "labels" {
      for_each = each.value.labels
      content {
        key        = labels.key
        value_type = "STRING"
      }
    }
  }
  label_extractors = { for label, field in each.value.labels : label => "EXTRACT(jsonPayload.${field})" }

  depends_on = [time_sleep.apis]
}

resource "google_logging_metric" "distribution" {
  for_each = local.has_metrics ? local.distributions : {}

  project     = var.project_id
  name        = "${local.metric_prefix}_${each.key}"
  description = "Recap: ${each.value.description}"
  filter      = each.value.filter

  value_extractor = "EXTRACT(jsonPayload.${each.value.field})"
  label_extractors = {
    event = "EXTRACT(jsonPayload.event)"
  }
  metric_descriptor {
    metric_kind  = "DELTA"
    value_type   = "DISTRIBUTION"
    unit         = each.value.unit
    display_name = "Recap: ${replace(each.key, "_", " ")}"

    labels {
      key        = "event"
      value_type = "STRING"
    }
  }
  bucket_options {
    exponential_buckets {
      scale              = each.value.from
      growth_factor      = 1.3333
      num_finite_buckets = 48
    }
  }

  depends_on = [time_sleep.apis]
}

resource "google_monitoring_custom_service" "recap" {
  count = local.has_objectives ? 1 : 0

  project      = var.project_id
  service_id   = "${var.name}-service"
  display_name = "Recap (${var.name})"

  depends_on = [time_sleep.apis]
}

locals {
  metric_type = "resource.type=\"cloud_run_revision\" metric.type=\"logging.googleapis.com/user/${local.metric_prefix}"

  # Objectives over 28 days: a share of events below a bound.
  latency_objectives = {
    turn-latency        = { display = "Answers within 60 s", goal = 0.95, metric = "turn_ms", max = 60000 }
    first-token-latency = { display = "First words within 5 s", goal = 0.95, metric = "first_token_ms", max = 5000 }
    compaction-lag      = { display = "Swaps within 5 min of their trigger", goal = 0.95, metric = "compaction_lag_ms", max = 300000 }
  }
  # Objectives over 28 days: a share of events that ended well.
  outcome_objectives = {
    turns-answered     = { display = "Turns answered", goal = 0.99, metric = "turns", bad = "state=\"failed\"" }
    compactions-served = { display = "Compactions served", goal = 0.95, metric = "compactions", bad = "status=starts_with(\"FAILED\")" }
  }
}

# "If a metric was created recently, it could take up to 10 minutes to become available" (Cloud Monitoring, which refuses
# an objective on it until then; alerts in PromQL are taken at once).
resource "time_sleep" "metrics" {
  count = local.has_objectives ? 1 : 0

  create_duration = "600s"

  triggers = {
    metrics = join(" ", sort([for objective in merge(local.latency_objectives, local.outcome_objectives) : "${local.metric_prefix}_${objective.metric}"]))
  }

  depends_on = [google_logging_metric.counter, google_logging_metric.distribution]
}

resource "google_monitoring_slo" "latency" {
  for_each = local.has_objectives ? local.latency_objectives : {}

  project             = var.project_id
  service             = google_monitoring_custom_service.recap[0].service_id
  slo_id              = each.key
  display_name        = each.value.display
  goal                = each.value.goal
  rolling_period_days = 28

  request_based_sli {
    distribution_cut {
      distribution_filter = "${local.metric_type}_${each.value.metric}\""
      range {
        max = each.value.max
      }
    }
  }

  depends_on = [time_sleep.metrics]
}

resource "google_monitoring_slo" "outcome" {
  for_each = local.has_objectives ? local.outcome_objectives : {}

  project             = var.project_id
  service             = google_monitoring_custom_service.recap[0].service_id
  slo_id              = each.key
  display_name        = each.value.display
  goal                = each.value.goal
  rolling_period_days = 28

  request_based_sli {
    good_total_ratio {
      bad_service_filter   = "${local.metric_type}_${each.value.metric}\" metric.labels.${each.value.bad}"
      total_service_filter = "${local.metric_type}_${each.value.metric}\""
    }
  }

  depends_on = [time_sleep.metrics]
}

resource "google_monitoring_notification_channel" "email" {
  for_each = toset(var.notification_emails)

  project      = var.project_id
  display_name = "Recap: ${each.value}"
  type         = "email"
  labels       = { email_address = each.value }

  # An address that is taken away leaves the alerts first: Google deletes no channel that an alert names.
  lifecycle {
    create_before_destroy = true
  }
  depends_on = [time_sleep.apis]
}

locals {
  on_revision = "monitored_resource=\"cloud_run_revision\""
  counted     = "${local.query_prefix}_"
  thresholds  = var.alert_thresholds
  # Of compactions whose summary verification refused: `refusedStates` of the code.
  refused_states = ["FAILED_VERIFICATION", "FAILED_EMPTY_SUMMARY"]
  refused        = join("|", local.refused_states)
  channels       = concat([for channel in google_monitoring_notification_channel.email : channel.name], var.notification_channels)

  subscriptions      = join("|", concat([google_pubsub_subscription.compaction.name], google_pubsub_subscription.events[*].name))
  dead_subscriptions = join("|", concat([google_pubsub_subscription.compaction_dead.name], google_pubsub_subscription.events_dead[*].name))

  # Conditions in PromQL. What each means and what to do stands in alerts/<key>.md.
  alerts = {
    turns-failing = {
      display  = "Turns fail"
      severity = "CRITICAL"
      duration = "300s"
      query    = "sum(rate(${local.counted}turns{${local.on_revision},state=\"failed\"}[10m])) / sum(rate(${local.counted}turns{${local.on_revision}}[10m])) > ${local.thresholds.turn_failed_share} and sum(increase(${local.counted}turns{${local.on_revision}}[10m])) > 20"
    }
    turns-slow = {
      display  = "Answers are slow"
      severity = "WARNING"
      duration = "600s"
      query    = "histogram_quantile(0.95, sum by (le) (rate(${local.counted}turn_ms_bucket{${local.on_revision}}[15m]))) > ${local.thresholds.turn_p95_seconds * 1000}"
    }
    first-token-slow = {
      display  = "First words are slow"
      severity = "WARNING"
      duration = "600s"
      query    = "histogram_quantile(0.95, sum by (le) (rate(${local.counted}first_token_ms_bucket{${local.on_revision}}[15m]))) > ${local.thresholds.first_token_p95_seconds * 1000}"
    }
    compactions-failing = {
      display  = "Compactions fail"
      severity = "ERROR"
      duration = "600s"
      query    = "sum(rate(${local.counted}compactions{${local.on_revision},status=~\"FAILED.*\"}[30m])) / sum(rate(${local.counted}compactions{${local.on_revision}}[30m])) > ${local.thresholds.compaction_failed_share} and sum(increase(${local.counted}compactions{${local.on_revision}}[30m])) > 10"
    }
    summaries-refused = {
      display  = "Verification refuses summaries"
      severity = "WARNING"
      duration = "0s"
      query    = "sum(increase(${local.counted}compactions{${local.on_revision},status=~\"${local.refused}\"}[6h])) / sum(increase(${local.counted}compactions{${local.on_revision},status=~\"COMPACTED|${local.refused}\"}[6h])) > ${local.thresholds.summary_refused_share} and sum(increase(${local.counted}compactions{${local.on_revision},status=~\"COMPACTED|${local.refused}\"}[6h])) > 20"
    }
    compaction-lag = {
      display  = "Swaps come late"
      severity = "WARNING"
      duration = "600s"
      query    = "histogram_quantile(0.95, sum by (le) (rate(${local.counted}compaction_lag_ms_bucket{${local.on_revision}}[30m]))) > ${local.thresholds.compaction_lag_minutes * 60000}"
    }
    backlog-old = {
      display  = "Events wait for the worker"
      severity = "ERROR"
      duration = "300s"
      query    = "max(pubsub_googleapis_com:subscription_oldest_unacked_message_age{monitored_resource=\"pubsub_subscription\",subscription_id=~\"${local.subscriptions}\"}) > ${local.thresholds.backlog_age_minutes * 60}"
    }
    dead-letters = {
      display  = "There are dead letters"
      severity = "ERROR"
      duration = "0s"
      query    = "sum(pubsub_googleapis_com:subscription_num_undelivered_messages{monitored_resource=\"pubsub_subscription\",subscription_id=~\"${local.dead_subscriptions}\"}) > 0"
    }
    breakers-opening = {
      display  = "Summarisers are left alone"
      severity = "WARNING"
      duration = "0s"
      query    = "sum(increase(${local.counted}breakers{${local.on_revision}}[1h])) > ${local.thresholds.breakers_per_hour}"
    }
    cost-per-hour = {
      display  = "Models cost more than planned"
      severity = "ERROR"
      duration = "0s"
      query    = "sum(increase(${local.counted}cost_micros_sum{${local.on_revision}}[1h])) / 1000000 > ${local.thresholds.cost_usd_per_hour}"
    }
    tokens-per-hour = {
      display  = "More tokens than planned"
      severity = "WARNING"
      duration = "0s"
      query    = "sum(increase(${local.counted}prompt_tokens_sum{${local.on_revision}}[1h])) + sum(increase(${local.counted}output_tokens_sum{${local.on_revision}}[1h])) > ${local.thresholds.tokens_per_hour}"
    }
    sweep-missing = {
      display  = "No sweep has ended for half an hour"
      severity = "ERROR"
      # Ten minutes and twenty-five: a deployment has that long until its first sweep.
      duration = "1500s"
      query    = "absent_over_time(${local.counted}sweeps{${local.on_revision}}[10m])"
    }
    defects = {
      display  = "The code met what it did not expect"
      severity = "ERROR"
      duration = "0s"
      query    = "sum(increase(${local.counted}defects{${local.on_revision}}[10m])) > 5"
    }
    events-not-published = {
      display  = "Events cannot be published"
      severity = "WARNING"
      duration = "0s"
      query    = "sum(increase(${local.counted}unpublished{${local.on_revision}}[15m])) > 5"
    }
  }

  documented = {
    project    = var.project_id
    region     = var.region
    name       = var.name
    chat       = local.chat_name
    compaction = local.compaction_name
    database   = local.database_id
    # As `gcloud logging read` takes them.
    refused_states = join(" OR ", [for state in local.refused_states : "\"${state}\""])
  }
}

resource "google_monitoring_alert_policy" "alert" {
  for_each = { for key, alert in local.alerts : key => alert if local.has_objectives || local.has_metrics && alert.severity != "WARNING" }

  project      = var.project_id
  display_name = "Recap (${var.name}): ${each.value.display}"
  combiner     = "OR"
  severity     = each.value.severity
  user_labels  = var.labels

  conditions {
    display_name = each.value.display
    condition_prometheus_query_language {
      query               = each.value.query
      duration            = each.value.duration
      evaluation_interval = "60s"
      # A name as Prometheus takes it.
      alert_rule = replace(each.key, "-", "_")
      rule_group = var.name
      # A metric of logs is there once the first line has come.
      disable_metric_validation = true
    }
  }
  documentation {
    mime_type = "text/markdown"
    subject   = "Recap (${var.name}): ${each.value.display}"
    content   = templatefile("${path.module}/alerts/${each.key}.md", local.documented)
  }
  alert_strategy {
    auto_close = "86400s"
  }
  notification_channels = local.channels

  # With the schedule: before it there is no sweep to miss.
  depends_on = [google_logging_metric.counter, google_logging_metric.distribution, google_cloud_scheduler_job.sweep]
}

locals {
  objective_ids = { for key, objective in merge(google_monitoring_slo.latency, google_monitoring_slo.outcome) : key => objective.id }
}

# An objective is about to be missed: in an hour ten times as much went wrong as 28 days allow an hour.
resource "google_monitoring_alert_policy" "burning" {
  for_each = { for key, objective in merge(local.latency_objectives, local.outcome_objectives) : key => objective if local.has_objectives }

  project      = var.project_id
  display_name = "Recap (${var.name}): objective in danger: ${each.value.display}"
  combiner     = "OR"
  severity     = "WARNING"
  user_labels  = var.labels

  conditions {
    display_name = "Error budget goes ten times too fast"
    condition_threshold {
      filter          = "select_slo_burn_rate(\"${local.objective_ids[each.key]}\", \"3600s\")"
      comparison      = "COMPARISON_GT"
      threshold_value = 10
      duration        = "0s"
    }
  }
  documentation {
    mime_type = "text/markdown"
    subject   = "Recap (${var.name}): objective in danger: ${each.value.display}"
    content   = templatefile("${path.module}/alerts/objective-in-danger.md", local.documented)
  }
  notification_channels = local.channels
}

resource "google_monitoring_dashboard" "recap" {
  count = local.has_metrics ? 1 : 0

  project = var.project_id
  dashboard_json = templatefile("${path.module}/dashboard.json.tftpl", {
    name               = var.name
    counted            = local.counted
    on_revision        = replace(local.on_revision, "\"", "'")
    refused            = local.refused
    subscriptions      = local.subscriptions
    dead_subscriptions = local.dead_subscriptions
    chat               = local.chat_name
    compaction         = local.compaction_name
  })

  depends_on = [time_sleep.apis]
}

resource "google_billing_budget" "monthly" {
  count = var.budget == null ? 0 : 1

  billing_account = var.budget.billing_account
  display_name    = "Recap (${var.name})"

  budget_filter {
    projects = ["projects/${local.project_number}"]
  }
  amount {
    specified_amount {
      currency_code = var.budget.currency
      units         = tostring(floor(var.budget.monthly_amount))
    }
  }
  dynamic "threshold_rules" {
    for_each = [0.5, 0.9, 1]
    content {
      threshold_percent = threshold_rules.value
    }
  }
  # Without addresses Google mails those who administrate the billing account, and refuses a rule that names nobody.
  dynamic "all_updates_rule" {
    for_each = length(var.notification_emails) > 0 ? [true] : []
    content {
      # Google takes five channels of a budget, and addresses alone.
      monitoring_notification_channels = [for address in slice(var.notification_emails, 0, min(5, length(var.notification_emails))) : google_monitoring_notification_channel.email[address].name]
      disable_default_iam_recipients   = false
    }
  }

  depends_on = [time_sleep.apis]
}
