import { z } from 'zod';
import type { Model } from './generation.ts';
import { vicesSchema } from './misbehaviour.ts';
import { pageSchema } from '../answers/ground.ts';

/** Answer of a control endpoint. */
interface ControlAnswer {
  status: number;
  body: object;
}

const settings = {
  '/control/windows': z.strictObject({ model: z.string(), tokens: z.int().min(1) }),
  '/control/timing': z.strictObject({
    timeToFirstTokenMs: z.number().min(0).optional(),
    tokensPerSecond: z.number().min(0).optional(),
  }),
  '/control/faults': z.strictObject({ faults: z.array(z.unknown()) }),
  '/control/answers': z.strictObject({ answers: z.array(z.unknown()) }),
  '/control/web': z.strictObject({ pages: z.array(pageSchema) }),
  '/control/journal': z.strictObject({ keepRequests: z.int().min(0).max(2_000) }),
};

const ok: ControlAnswer = { status: 200, body: {} };

function post(model: Model, path: string, body: unknown): ControlAnswer | undefined {
  switch (path) {
    case '/control/windows': {
      const { model: name, tokens } = settings[path].parse(body);
      model.windows.set(name, tokens);
      return ok;
    }
    case '/control/timing':
      model.timing = { ...model.timing, ...settings[path].parse(body) };
      return ok;
    case '/control/vices':
      model.vices = vicesSchema.parse(body);
      return ok;
    case '/control/faults':
      model.faults.add(settings[path].parse(body).faults);
      return { status: 200, body: { waiting: model.faults.size } };
    case '/control/answers':
      model.recorded.register(settings[path].parse(body).answers);
      return ok;
    case '/control/web':
      model.web = settings[path].parse(body).pages;
      return ok;
    case '/control/journal':
      model.journal.keepRequests = settings[path].parse(body).keepRequests;
      return ok;
    default:
      return undefined;
  }
}

function remove(model: Model, path: string): ControlAnswer | undefined {
  switch (path) {
    case '/control/journal':
      model.journal.clear();
      return ok;
    case '/control/faults':
      model.faults.clear();
      return ok;
    case '/control/answers':
      model.recorded.clear();
      return ok;
    case '/control/notifications':
      model.messaging.clear();
      return ok;
    default:
      return undefined;
  }
}

function get(model: Model, path: string): ControlAnswer | undefined {
  if (path === '/control/journal') {
    const entries = model.journal.entries();
    return { status: 200, body: { entries, droppedCount: model.journal.droppedCount } };
  }
  if (path === '/control/notifications')
    return { status: 200, body: { notifications: model.messaging.sent() } };
  if (path === '/control/faults') return { status: 200, body: { waiting: model.faults.size } };
  const n = /^\/control\/requests\/(\d+)$/.exec(path)?.[1];
  const body = n === undefined ? undefined : model.journal.body(Number(n));
  if (body === undefined) return undefined;
  const parsed: unknown = JSON.parse(body);
  return { status: 200, body: { n: Number(n), body: parsed } };
}

/** Serves `/control/…`: 200, 400 with what is wrong with the body, or 404. */
export function control(
  model: Model,
  request: { method: string; path: string; body: string },
): ControlAnswer {
  try {
    const { method, path } = request;
    let found: ControlAnswer | undefined;
    if (method === 'GET') found = get(model, path);
    else if (method === 'DELETE') found = remove(model, path);
    else if (method === 'POST') found = post(model, path, JSON.parse(request.body || '{}'));
    return found ?? { status: 404, body: { problem: `there is no ${method} ${path}` } };
  } catch (error) {
    if (!(error instanceof z.ZodError || error instanceof SyntaxError)) throw error;
    const problem = error instanceof z.ZodError ? z.prettifyError(error) : error.message;
    return { status: 400, body: { problem } };
  }
}
