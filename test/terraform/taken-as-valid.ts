import { z } from 'zod';
import type { MadeResource } from './made-resources.ts';

/** What resources must wait for. Terraform cannot find it: to it any order is valid, the first apply fails. */
const waits: readonly [RegExp, string, string][] = [
  [/^google_(?!project_service\.)/, 'time_sleep.apis', 'its API is enabled'],
  [/^google_cloudfunctions2_function\./, 'time_sleep.rights', 'its accounts get their rights'],
  [/^google_monitoring_slo\./, 'time_sleep.metrics', 'its metrics are made'],
];

/** Whether a resource comes behind another one, in what `terraform graph` prints. */
function orderIn(graph: string) {
  const edges = [...graph.matchAll(/^ *"(\S+)" -> "(\S+)";$/gm)];
  const isBehind = (resource: string, awaited: string): boolean =>
    edges.some(
      ([, from, to = '']) => from === resource && (to === awaited || isBehind(to, awaited)),
    );
  return { isBehind, resources: [...graph.matchAll(/^ *"(\S+)" \[/gm)].map(([, one = '']) => one) };
}

/** Resources that do not wait as they must, in what `terraform graph` prints: one line for each. */
export function tooEarlyIn(graph: string): string[] {
  const { isBehind, resources } = orderIn(graph);
  return resources.flatMap((resource) =>
    waits
      .filter(([pattern, awaited]) => pattern.test(resource) && !isBehind(resource, awaited))
      .map(
        ([, awaited, why]) => `${resource} does not wait for ${awaited}: ${why} by the same apply`,
      ),
  );
}

const PROTECTION = 'terraform_data.protection';

/** Resources that a refused `terraform destroy` would destroy all the same: those that the refusal does not come before. */
export function unprotectedIn(graph: string): string[] {
  const { isBehind, resources } = orderIn(graph);
  return resources
    .filter((resource) => resource !== PROTECTION && !isBehind(PROTECTION, resource))
    .map(
      (resource) => `${PROTECTION} does not depend on ${resource}, which a refused destroy takes`,
    );
}

const one = z.tuple([z.looseObject({})]);

/** What every resource of a type must have here. Terraform cannot find it: Google takes the others. */
const required: Readonly<Record<string, z.ZodType>> = {
  google_pubsub_subscription: z
    .object({
      expiration_policy: z.tuple([z.object({ ttl: z.literal('') })]),
      // An order lets a poison message block its conversation.
      enable_message_ordering: z.literal(false).nullable(),
    })
    .and(
      z.union([
        z.object({ push_config: z.tuple([]) }),
        z.object({
          push_config: z.tuple([z.object({ oidc_token: one })]),
          retry_policy: one,
          dead_letter_policy: one,
        }),
      ]),
    ),
  google_storage_bucket: z.object({
    public_access_prevention: z.literal('enforced'),
    uniform_bucket_level_access: z.literal(true),
  }),
  google_project_service: z.object({ disable_on_destroy: z.literal(false) }),
  google_cloudfunctions2_function: z.object({
    build_config: z.tuple([z.object({ runtime: z.literal('nodejs24') })]),
  }),
  google_monitoring_alert_policy: z.object({ documentation: one }),
};

/** Addresses of made resources that have not what their type must have here. */
export const lackingIn = (made: readonly MadeResource[]): string[] => [
  ...new Set(
    made
      .filter(({ type, values }) => required[type]?.safeParse(values).success === false)
      .map(({ address }) => address),
  ),
];
