import { z } from 'zod';
import { parse } from 'yaml';

/* The cases of Genkit's `tests/specs/agent.yaml`, as far as the adapter knows their fields. */

const toolRequest = z.strictObject({
  name: z.string(),
  input: z.record(z.string(), z.unknown()).optional(),
  ref: z.string(),
});

const toolResponse = z.strictObject({ name: z.string(), ref: z.string(), output: z.unknown() });

const modelPart = z.union([z.strictObject({ text: z.string() }), z.strictObject({ toolRequest })]);
export type ModelPart = z.infer<typeof modelPart>;

const modelContent = z.strictObject({
  index: z.number().optional(),
  role: z.literal('model'),
  content: z.array(modelPart),
});

const modelResponse = z.strictObject({ message: modelContent, finishReason: z.string() });

const agentInput = z.strictObject({
  message: z
    .strictObject({
      role: z.literal('user'),
      content: z.array(z.strictObject({ text: z.string() })).length(1),
    })
    .optional(),
  resume: z
    .strictObject({
      respond: z.array(z.strictObject({ toolResponse })).optional(),
      restart: z.array(z.strictObject({ toolRequest, metadata: z.unknown() })).optional(),
    })
    .optional(),
  detach: z.boolean().optional(),
});
export type AgentInput = z.infer<typeof agentInput>;

const agentInit = z.strictObject({
  snapshotId: z.string().optional(),
  sessionId: z.string().optional(),
  state: z.unknown().optional(),
});
export type AgentInit = z.infer<typeof agentInit>;

const errorExpectation = z.strictObject({
  status: z.string().optional(),
  message: z.string().optional(),
});
export type ErrorExpectation = z.infer<typeof errorExpectation>;

const outputExpectation = z.strictObject({
  message: z.unknown().optional(),
  hasSnapshotId: z.literal(true).optional(),
  hasSessionId: z.literal(true).optional(),
  stateContains: z.unknown().optional(),
  artifactsContain: z.array(z.unknown()).optional(),
  finishReason: z.string().optional(),
  errorContains: errorExpectation.optional(),
});

const snapshotExpectation = z.strictObject({
  parentId: z.string().optional(),
  status: z.string().optional(),
  finishReason: z.string().optional(),
  hasSessionId: z.literal(true).optional(),
  stateContains: z.unknown().optional(),
  errorContains: errorExpectation.optional(),
});
export type SnapshotExpectation = z.infer<typeof snapshotExpectation>;

const stepSchema = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('send'),
    init: agentInit.default({}),
    inputs: z.array(agentInput).default([]),
    modelResponses: z.array(modelResponse).default([]),
    streamChunks: z.array(z.array(modelContent)).optional(),
    expectChunks: z.array(z.record(z.string(), z.unknown())).optional(),
    expectOutput: outputExpectation.optional(),
    expectError: errorExpectation.optional(),
    captureSnapshotId: z.string().optional(),
    captureState: z.string().optional(),
    captureSessionId: z.string().optional(),
  }),
  z.strictObject({
    type: z.literal('getSnapshotData'),
    snapshotId: z.string().optional(),
    sessionId: z.string().optional(),
    expectSnapshot: snapshotExpectation.optional(),
  }),
  z.strictObject({
    type: z.literal('abort'),
    snapshotId: z.string(),
    expectPreviousStatus: z.string().nullable().optional(),
  }),
  z.strictObject({
    type: z.literal('waitUntilCompleted'),
    snapshotId: z.string(),
    timeoutMs: z.number().default(5_000),
    expectSnapshot: snapshotExpectation.optional(),
  }),
]);
export type Step = z.infer<typeof stepSchema>;
export type StepOfType<Type extends Step['type']> = Extract<Step, { type: Type }>;

const caseSchema = z.object({ name: z.string(), agent: z.string(), steps: z.array(z.unknown()) });
/** A case whose steps are as they stand in the file: they name what earlier steps give. */
export type AgentCase = z.infer<typeof caseSchema>;

/** Reads the file. Throws for one that is no such file. */
export const parseCases = (text: string): AgentCase[] =>
  z.object({ tests: z.array(caseSchema) }).parse(parse(text)).tests;

/** A step, with what earlier steps gave in the places of `{{name}}`. Throws for fields that the adapter does not know. */
export function readStep(step: unknown, captured: ReadonlyMap<string, unknown>): Step {
  const fill = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(fill);
    if (typeof value === 'object' && value !== null)
      return Object.fromEntries(Object.entries(value).map(([key, held]) => [key, fill(held)]));
    const name = typeof value === 'string' ? /^\{\{(\w+)\}\}$/.exec(value)?.[1] : undefined;
    if (name === undefined) return value;
    if (!captured.has(name)) throw new Error(`no earlier step gave {{${name}}}`);
    return captured.get(name);
  };
  return stepSchema.parse(fill(step));
}
