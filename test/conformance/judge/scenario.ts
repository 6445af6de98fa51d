import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';

/* The format of scenarios.yaml; README.md says what the steps mean. A typing error in the file is an error that names it. */

const json = z.record(z.string(), z.unknown());

const eventSchema = z.union([
  z.literal('DONE'),
  z.strictObject({ text: z.string(), part: z.string().optional() }),
  z.strictObject({ finish: z.string() }),
  z.strictObject({ fail: z.string(), retryable: z.boolean().optional() }),
  z.strictObject({ stopped: z.literal(true) }),
  z.strictObject({ restarted: z.array(z.string()) }),
  z.strictObject({ raw: z.string() }),
  z.strictObject({ bytes: z.string() }),
  z.strictObject({ row: json, erased: z.array(z.number()).optional() }),
  z.looseObject({ type: z.string() }),
]);
export type ScriptEvent = z.infer<typeof eventSchema>;

const replySchema = z.union([
  z.enum(['reset', 'silence']),
  z.strictObject({
    status: z.number().optional(),
    headers: z.record(z.string(), z.string()).optional(),
    json: z.unknown().optional(),
    /** Of an error. */
    reason: z.string().optional(),
    metadata: z.record(z.string(), z.string()).optional(),
    /** The turn that begins. */
    turn: z.number().optional(),
    /** The whole rest of its answer. */
    says: z.string().optional(),
    events: z.array(eventSchema).optional(),
    /** Without the comments that say that the connection lives. */
    silent: z.literal(true).optional(),
    /** Id of the upload whose address is given. */
    upload: z.string().optional(),
  }),
]);
export type Reply = z.infer<typeof replySchema>;

const turnSchema = z.strictObject({
  seq: z.number(),
  /** All turns up to this one, alike. */
  upTo: z.number().optional(),
  id: z.string().optional(),
  user: z.string().optional(),
  model: z.string().optional(),
  parts: z.array(json).optional(),
  state: z.enum(['queued', 'running', 'awaiting_tool', 'done', 'failed', 'cancelled']).optional(),
  deleted: z.literal(true).optional(),
  rating: z.enum(['up', 'down']).optional(),
  replaces: z.number().optional(),
  replacedBy: z.number().optional(),
  error: json.optional(),
  openCalls: z.array(json).optional(),
});
export type ScriptTurn = z.infer<typeof turnSchema>;

const tool = z.union([
  z.strictObject({ returns: z.unknown() }),
  z.strictObject({ throws: z.string() }),
  z.strictObject({ counts: z.literal(true) }),
  z.strictObject({ meets: z.number() }),
]);

const message = z.union([
  z.string(),
  z.strictObject({
    parts: z.array(json).optional(),
    text: z.string().optional(),
    /** Of `edit`: what it replaces. */
    message: z.string().optional(),
    files: z
      .array(z.strictObject({ type: z.string(), name: z.string(), base64: z.string() }))
      .optional(),
    onBusy: z.enum(['queue', 'interrupt', 'reject']).optional(),
    context: json.optional(),
    retention: z.string().optional(),
    responseSchema: json.optional(),
  }),
]);

const each = (value: z.ZodType, ...names: string[]) =>
  Object.fromEntries(names.map((name) => [name, value]));

/** Commands for the client, and what each takes. */
const commands: Readonly<Record<string, z.ZodType>> = {
  create: z.strictObject({
    store: z.string().optional(),
    tools: z.record(z.string(), tool).optional(),
    appCheck: z.string().optional(),
    context: json.optional(),
  }),
  ...each(z.literal(true), 'newChat', 'open', 'leave', 'stop', 'refresh', 'close'),
  ...each(message, 'send', 'edit'),
  ...each(z.literal(true), 'regenerate', 'remove', 'undelete', 'unregister'),
  ...each(z.string(), 'retry', 'discard', 'deleteMessage', 'rename', 'search'),
  ...each(z.number(), 'loadOlder', 'loadNewer', 'loadAround'),
  ...each(z.boolean(), 'archive', 'pin', 'setActive'),
  ...each(z.enum(['active', 'archived', 'deleted']), 'openList', 'leaveList', 'loadMore'),
  markRead: z.union([z.literal(true), z.number()]),
  approve: z.strictObject({ call: z.string(), isAllowed: z.boolean() }),
  rate: z.strictObject({ message: z.string(), rating: z.enum(['up', 'down']) }),
  claim: z.strictObject({ guest: z.string(), store: z.string() }),
  register: z.strictObject({
    token: z.string(),
    platform: z.string(),
    locale: z.string().optional(),
  }),
};

const outcome = { result: z.unknown().optional(), error: json.optional() };

const commandSteps = Object.entries(commands).map(
  ([name, value]) =>
    [
      name,
      z
        .strictObject({
          [name]: value,
          in: z.string().optional(),
          as: z.string().optional(),
          later: z.string().optional(),
          ...outcome,
        })
        .transform(({ in: chat, as, later, result, error, ...given }) => ({
          kind: 'command' as const,
          name,
          value: (given as Record<string, unknown>)[name],
          chat: chat ?? '$c1',
          as,
          later,
          result,
          error,
        })),
    ] as const,
);

const named = <Kind extends string>(kind: Kind, value: z.ZodType<string>) =>
  z.strictObject({ [kind]: value }).transform((given) => ({ kind, exchange: String(given[kind]) }));

/** Paths without a leading slash are of the conversation; `.` is the conversation. */
function routeOf(request: string, chat: string) {
  const [method = '', path = ''] = request.split(' ');
  if (path.startsWith('/')) return { method, path };
  const inChat = path === '.' ? '' : path.startsWith(':') ? path : `/${path}`;
  return { method, path: `/v1/conversations/${chat}${inChat}` };
}

const otherSteps = {
  request: z
    .strictObject({
      request: z.string().regex(/^(GET|POST|PUT|PATCH|DELETE) \S+$/),
      in: z.string().optional(),
      query: json.optional(),
      headers: json.optional(),
      body: z.unknown().optional(),
      /** Which of the tokens that the client was given: the first is 1. */
      token: z.number().optional(),
      as: z.string().optional(),
      /** The same message may have another body: its files are others. */
      newBody: z.literal(true).optional(),
      /** At least so long after the last request that was replied to. */
      waitsMs: z.number().optional(),
      reply: replySchema.optional(),
    })
    .transform(({ request, in: chat = '$c1', ...rest }) => ({
      kind: 'request' as const,
      ...routeOf(request, chat),
      ...rest,
    })),
  notYet: z
    .strictObject({ notYet: z.string(), in: z.string().default('$c1') })
    .transform((step) => ({ kind: 'notYet' as const, ...routeOf(step.notYet, step.in) })),
  network: z
    .strictObject({ network: z.enum(['up', 'down', 'forbidden']) })
    .transform((step) => ({ kind: 'network' as const, network: step.network })),
  push: z
    .strictObject({ push: z.string(), events: z.array(eventSchema) })
    .transform(({ push, events }) => ({ kind: 'push' as const, exchange: push, events })),
  cut: named('cut', z.string()),
  end: named('end', z.string()),
  hungUp: named('hungUp', z.string()),
  finished: z
    .strictObject({ finished: z.string(), ...outcome })
    .transform(({ finished, ...rest }) => ({ kind: 'finished' as const, call: finished, ...rest })),
  state: z.strictObject({ state: json, in: z.string().optional() }).transform((step) => ({
    kind: 'state' as const,
    expected: step.state,
    chat: step.in ?? '$c1',
  })),
  rows: z
    .strictObject({
      rows: z.union([z.array(json), json]),
      list: z.string().default('active'),
      has: json.default({}),
    })
    .transform(({ rows, list, has }) => ({
      kind: 'rows' as const,
      expected: { ...has, rows },
      list,
    })),
  stored: z
    .strictObject({ stored: z.array(turnSchema), in: z.string().default('$c1') })
    .transform((step) => ({ kind: 'stored' as const, turns: step.stored, chat: step.in })),
  conversation: z
    .strictObject({ conversation: json.nullable(), in: z.string().default('$c1') })
    .transform((step) => ({
      kind: 'conversation' as const,
      fields: step.conversation,
      chat: step.in,
    })),
  inbox: z
    .strictObject({ inbox: z.array(json) })
    .transform((step) => ({ kind: 'inbox' as const, rows: step.inbox })),
  tokens: z
    .strictObject({
      tokens: z.strictObject({ user: z.string().optional(), reject: z.literal(true).optional() }),
    })
    .transform((step) => ({ kind: 'tokens' as const, ...step.tokens })),
  kill: z
    .strictObject({ kill: z.enum(['at once', 'later']) })
    .transform((step) => ({ kind: 'kill' as const, isLater: step.kill === 'later' })),
};

const stepSchemas = new Map<string, z.ZodType>([...commandSteps, ...Object.entries(otherSteps)]);

type CommandStep = z.infer<(typeof commandSteps)[number][1]>;
type OtherStep = {
  [Name in keyof typeof otherSteps]: z.infer<(typeof otherSteps)[Name]>;
}[keyof typeof otherSteps];
export type Step = (CommandStep | OtherStep) & { text: string };
export type RequestStep = z.infer<typeof otherSteps.request> & { text: string };

const timingsSchema = z.strictObject({
  silenceMs: z.number(),
  callMs: z.number(),
  backOffMs: z.array(z.number()),
  watchMs: z.number(),
});
export type Timings = z.infer<typeof timingsSchema>;

const scenarioSchema = z.strictObject({
  name: z.string(),
  /** How far the clock of the service is before that of the device, hours. */
  clockHours: z.number().default(0),
  timings: timingsSchema.partial().default({}),
  steps: z.array(z.unknown()).min(1),
});

export interface Scenario extends Omit<z.infer<typeof scenarioSchema>, 'steps'> {
  chapter: string;
  steps: readonly Step[];
}

/** One line for a person. */
function textOf(step: unknown): string {
  const text = JSON.stringify(step);
  return text.length > 160 ? `${text.slice(0, 160)}…` : text;
}

function check<Value>(where: string, schema: z.ZodType<Value>, value: unknown): Value {
  const checked = schema.safeParse(value);
  if (checked.success) return checked.data;
  throw new Error(`${where}: ${z.prettifyError(checked.error)}`);
}

function readStep(where: string, step: unknown): Step {
  const fields = check(where, json, step);
  const kind = Object.keys(fields).find((key) => stepSchemas.has(key));
  const schema = stepSchemas.get(kind ?? '');
  if (!schema) throw new Error(`${where}: no step has ${Object.keys(fields).join(', ')}`);
  return { ...(check(where, schema, step) as CommandStep | OtherStep), text: textOf(step) };
}

/** Throws what is wrong with the file, with the scenario and the step. */
export function readScenarios(text: string): Scenario[] {
  const chapters = check('scenarios', z.record(z.string(), z.array(scenarioSchema)), parse(text));
  const scenarios = Object.entries(chapters).flatMap(([chapter, list]) =>
    list.map((scenario) => ({
      ...scenario,
      chapter,
      steps: scenario.steps.map((step, index) =>
        readStep(`${chapter}, "${scenario.name}", step ${index + 1}`, step),
      ),
    })),
  );
  const names = scenarios.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new Error(`two scenarios are named "${twice}"`);
  return scenarios;
}

export const allScenarios = (): Scenario[] =>
  readScenarios(
    readFileSync(new URL('../../../clients/conformance/scenarios.yaml', import.meta.url), 'utf8'),
  );
