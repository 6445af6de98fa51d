import { z } from 'zod';
import type { Model } from './generation.ts';
import { vicesSchema } from './misbehaviour.ts';

interface ControlCall {
  method: string;
  path: string;
  body: string;
}

const timingSchema = z.strictObject({
  timeToFirstTokenMs: z.number().min(0).optional(),
  tokensPerSecond: z.number().min(0).optional(),
});

/** What each order does with its body. */
const orders: Readonly<Record<string, (model: Model, body: unknown) => object | void>> = {
  'POST /control/vices': (model, body) => {
    model.vices = vicesSchema.parse(body);
  },
  'POST /control/timing': (model, body) => {
    model.timing = { ...model.timing, ...timingSchema.parse(body) };
  },
  'POST /control/faults': (model, body) => {
    model.faults.add(z.strictObject({ faults: z.array(z.unknown()) }).parse(body).faults);
  },
  'GET /control/faults': (model) => ({ waiting: model.faults.size }),
  'DELETE /control/faults': (model) => model.faults.clear(),
  'POST /control/answers': (model, body) => {
    model.recorded.register(z.strictObject({ answers: z.array(z.unknown()) }).parse(body).answers);
  },
  'DELETE /control/answers': (model) => model.recorded.clear(),
  'GET /control/journal': (model) => ({ entries: model.journal.entries() }),
  'DELETE /control/journal': (model) => model.journal.clear(),
  'GET /control/notifications': (model) => ({ notifications: model.messaging.sent() }),
  'DELETE /control/notifications': (model) => model.messaging.clear(),
};

/** Serves `/control/…`: 200, 400 with what is wrong with the body, or 404. */
export function control(
  model: Model,
  { method, path, body }: ControlCall,
): { status: number; body: object } {
  const obey = orders[`${method} ${path}`];
  if (obey === undefined)
    return { status: 404, body: { problem: `there is no ${method} ${path}` } };
  try {
    return { status: 200, body: obey(model, JSON.parse(body || '{}')) ?? {} };
  } catch (error) {
    if (!(error instanceof z.ZodError || error instanceof SyntaxError)) throw error;
    const problem = error instanceof z.ZodError ? z.prettifyError(error) : error.message;
    return { status: 400, body: { problem } };
  }
}
