import { z } from 'zod';
import type { MadeResource } from './made-resources.ts';
import {
  providerNames,
  readProviderSchema,
  type ProviderBlock,
} from './offline/provider-schema.ts';
import type { Body, Module } from './read-module.ts';

/** What resources must wait for. Terraform cannot find it: to it any order is valid, the first apply fails. */
const waits: readonly [RegExp, string, string][] = [
  [/^google_(?!project_service\.)/, 'time_sleep.apis', 'its API is enabled'],
  [/^google_cloudfunctions2_function\./, 'time_sleep.rights', 'its accounts get their rights'],
  [/^google_monitoring_slo\./, 'time_sleep.metrics', 'its metrics are made'],
];

/** Resources that do not wait as they must, in what `terraform graph` prints: one line for each. */
export function tooEarlyIn(graph: string): string[] {
  const edges = [...graph.matchAll(/^ *"(\S+)" -> "(\S+)";$/gm)];
  const isBehind = (resource: string, awaited: string): boolean =>
    edges.some(
      ([, from, to = '']) => from === resource && (to === awaited || isBehind(to, awaited)),
    );
  return [...graph.matchAll(/^ *"(\S+)" \[/gm)].flatMap(([, resource = '']) =>
    waits
      .filter(([pattern, awaited]) => pattern.test(resource) && !isBehind(resource, awaited))
      .map(
        ([, awaited, why]) => `${resource} does not wait for ${awaited}: ${why} by the same apply`,
      ),
  );
}

const bodies = z.array(z.record(z.string(), z.unknown())).catch([]);

/** Blocks of a name in a body, with those that `dynamic` makes. */
function blocksIn(body: Body, name: string): Body[] {
  const [dynamic = {}] = bodies.parse([body['dynamic']]);
  const made = bodies.parse(dynamic[name]).flatMap(({ content }) => bodies.parse(content));
  return [...bodies.parse(body[name]), ...made];
}

function readOnlyNames(body: Body, schema: ProviderBlock): string[] {
  const own = Object.entries(schema.attributes ?? {})
    .filter(([name, { required, optional }]) => name in body && !required && !optional)
    .map(([name]) => name);
  const inner = Object.entries(schema.block_types ?? {}).flatMap(([name, { block }]) =>
    blocksIn(body, name).flatMap((one) => readOnlyNames(one, block)),
  );
  return [...own, ...inner];
}

/** Arguments that the provider alone sets. Terraform cannot find them: it leaves that to the provider. */
export function readOnlyIn({ resources }: Module): string[] {
  const known = providerNames.map((name) => readProviderSchema(name).resource_schemas);
  return resources.flatMap(({ address, type, body }) =>
    known
      .flatMap((schemas) => readOnlyNames(body, schemas[type]?.block ?? {}))
      .map((name) => `${address}: the provider alone sets "${name}"`),
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
