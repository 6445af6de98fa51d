import { blocksIn, type Block, type Body, type Module } from '../read-module.ts';

interface Rule {
  type: string;
  holds: (body: Body) => boolean;
  problem: string;
}

const isPush = (body: Body) => blocksIn(body, 'push_config').length > 0;

/** What Google takes and Recap does not. */
const rules: Rule[] = [
  {
    type: 'google_pubsub_subscription',
    holds: (body) => blocksIn(body, 'expiration_policy').some(({ ttl }) => ttl === ''),
    problem: 'may never expire: expiration_policy { ttl = "" }',
  },
  {
    type: 'google_pubsub_subscription',
    holds: ({ enable_message_ordering: isOrdered }) => isOrdered !== true,
    problem: 'has an order: a poison message would block its conversation',
  },
  {
    type: 'google_pubsub_subscription',
    holds: (body) =>
      !isPush(body) ||
      ['dead_letter_policy', 'retry_policy'].every((name) => blocksIn(body, name).length === 1),
    problem: 'pushes without a dead_letter_policy and a retry_policy',
  },
  {
    type: 'google_pubsub_subscription',
    holds: (body) =>
      !isPush(body) ||
      blocksIn(body, 'push_config').every((push) => blocksIn(push, 'oidc_token').length === 1),
    problem: 'pushes without an OIDC token',
  },
  {
    type: 'google_storage_bucket',
    holds: (body) =>
      body['public_access_prevention'] === 'enforced' &&
      body['uniform_bucket_level_access'] === true,
    problem: 'could be made public',
  },
  {
    type: 'google_project_service',
    holds: (body) => body['disable_on_destroy'] === false,
    problem: 'goes off for others: disable_on_destroy = false',
  },
  {
    type: 'google_cloudfunctions2_function',
    holds: (body) => blocksIn(body, 'build_config').every(({ runtime }) => runtime === 'nodejs24'),
    problem: 'runs on another runtime than nodejs24',
  },
  {
    type: 'google_cloudfunctions2_function',
    holds: (body) =>
      blocksIn(body, 'service_config').every(
        (service) => typeof service['service_account_email'] === 'string',
      ),
    problem: 'runs as the default account: it has no service_account_email',
  },
  {
    type: 'google_monitoring_alert_policy',
    holds: (body) => blocksIn(body, 'documentation').length === 1,
    problem: 'does not say what to do: it has no documentation',
  },
];

const described = (blocks: Block[]) =>
  blocks
    .filter(({ body }) => typeof body['description'] !== 'string' || body['description'] === '')
    .map(({ file, address }) => `${file}: ${address}: has no description`);

/** What every resource of a type must have here, and that everything is described. */
export const lintRules = (module: Module): string[] => [
  ...module.resources.flatMap((resource) =>
    rules
      .filter(({ type, holds }) => type === resource.type && !holds(resource.body))
      .map(({ problem }) => `${resource.file}: ${resource.address}: ${problem}`),
  ),
  ...described(module.variables),
  ...described(module.outputs),
];
