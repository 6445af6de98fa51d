import { Hono, type Context } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { z } from 'zod';
import {
  type Admission,
  findRefusal,
  SUPERVISOR_TOKEN_HEADER,
  findTokenRefusal,
} from './admission.ts';
import type { CuttableLine } from './cuttable-line.ts';
import { type ModelControl, modelFaultsBody, timingBody, vicesBody } from './model-control.ts';
import type { PartKills } from './part-kills.ts';
import { redeliveryBody, type Redelivery } from './redeliver.ts';

interface SupervisorParts {
  admission: Admission;
  line: CuttableLine;
  kills: PartKills;
  /** Absent when a real model answers: it takes no orders. */
  model: ModelControl | undefined;
  redeliver: (redelivery: Redelivery) => Promise<number[]>;
}

const MAX_BODY_BYTES = 4_096;
const MAX_WAITING_FAULTS = 20;

const killBody = z.strictObject({ part: z.enum(['chat', 'compaction']) });
const nothing = z.strictObject({});
const afterQuery = z.coerce.number().int().min(0).default(0);

class Refused extends Error {
  readonly status: 400 | 403 | 409;
  constructor(status: 400 | 403 | 409, problem: string) {
    super(problem);
    this.status = status;
  }
}

const noStandIn = () =>
  new Refused(409, 'a real model answers here; only the stand-in can be told to fail');
const holdsStore = (part: string) =>
  new Refused(
    409,
    `${part} and the store are one process here: a kill would take every conversation`,
  );
const tooManyFaults = (waiting: number) =>
  new Refused(
    409,
    `${waiting} faults wait already, and at most ${MAX_WAITING_FAULTS} may: send messages that meet them, or POST /reset`,
  );
const isDown = (part: string) => new Refused(409, `${part} is being started again already`);

async function readBody<T>(context: Context, schema: z.ZodType<T>): Promise<T> {
  const text = await context.req.text();
  try {
    return schema.parse(text === '' ? {} : JSON.parse(text));
  } catch (error) {
    if (error instanceof z.ZodError) throw new Refused(400, z.prettifyError(error));
    if (error instanceof SyntaxError) throw new Refused(400, `no JSON: ${error.message}`);
    throw error;
  }
}

/** Answers of the supervisor are for the page of this start alone, and for no cache. */
function allow(context: Context, origin: string | undefined): void {
  context.header('cache-control', 'no-store');
  if (origin === undefined) return;
  context.header('access-control-allow-origin', origin);
  context.header('access-control-allow-headers', `content-type, ${SUPERVISOR_TOKEN_HEADER}`);
  context.header('access-control-allow-methods', 'GET, POST');
  context.header('vary', 'Origin');
}

function guard(app: Hono, admission: Admission): void {
  app.use(async (context, next) => {
    const { req } = context;
    const asked = { host: req.header('host'), origin: req.header('origin') };
    const refusal = findRefusal(asked, admission);
    if (refusal !== undefined) return context.json({ problem: refusal }, 403);
    allow(context, asked.origin);
    if (req.method === 'OPTIONS') return context.body(null, 204);
    const wrongToken = findTokenRefusal(req.header(SUPERVISOR_TOKEN_HEADER), admission);
    if (wrongToken !== undefined) return context.json({ problem: wrongToken }, 403);
    await next();
    return undefined;
  });
  app.use(bodyLimit({ maxSize: MAX_BODY_BYTES }));
  app.onError((error, context) => {
    if (error instanceof Refused) return context.json({ problem: error.message }, error.status);
    return context.json({ problem: error.message }, 502);
  });
  app.notFound((context) => context.json({ problem: 'there is no such fault' }, 404));
}

function routeModel(app: Hono, given: ModelControl | undefined): void {
  const model = (): ModelControl => {
    if (given === undefined) throw noStandIn();
    return given;
  };
  app.post('/model/faults', async (context) => {
    const faults = await readBody(context, modelFaultsBody);
    const { waitingFaults } = await model().state();
    if (waitingFaults + faults.times > MAX_WAITING_FAULTS) throw tooManyFaults(waitingFaults);
    await model().addFaults(faults);
    return context.json({});
  });
  app.post('/model/vices', async (context) => {
    await model().setVices(await readBody(context, vicesBody));
    return context.json({});
  });
  app.post('/model/timing', async (context) => {
    await model().setTiming(await readBody(context, timingBody));
    return context.json({});
  });
  app.get('/model/calls', async (context) => {
    const after = afterQuery.safeParse(context.req.query('after') ?? undefined);
    if (!after.success) throw new Refused(400, 'after takes the number of a call');
    return context.json({ calls: await model().callsAfter(after.data) });
  });
}

/**
 * The faults of the local stack over HTTP, one route each, for the page's fault panel. Nothing here is part of the
 * functions, and they know nothing of it: it kills their processes, cuts the line to them, and drives the fake Gemini.
 */
export function createSupervisorApp(parts: SupervisorParts): Hono {
  const { line, kills, model } = parts;
  const app = new Hono();
  guard(app, parts.admission);
  routeModel(app, model);

  app.get('/state', async (context) =>
    context.json({
      parts: kills.state(),
      killable: kills.killable(),
      openConnections: line.openCount(),
      model: (await model?.state()) ?? null,
    }),
  );
  app.post('/kill', async (context) => {
    const { part } = await readBody(context, killBody);
    const killed = kills.kill(part);
    if (killed.kind === 'holds-store') throw holdsStore(part);
    if (killed.kind === 'is-down') throw isDown(part);
    return context.json({ part, processId: killed.processId });
  });
  app.post('/cut', async (context) => {
    await readBody(context, nothing);
    return context.json({ connections: line.cut() });
  });
  app.post('/redeliver', async (context) =>
    context.json({ statuses: await parts.redeliver(await readBody(context, redeliveryBody)) }),
  );
  app.post('/reset', async (context) => {
    await readBody(context, nothing);
    await Promise.all([model?.reset(), kills.settled()]);
    return context.json({});
  });
  return app;
}
