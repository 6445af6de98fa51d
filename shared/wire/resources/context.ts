import { repairsSchema } from '#shared/models/repairs.ts';
import { contentSchema } from '#shared/models/content.ts';
import { tokens } from '../fields.ts';
import { citationResponse } from '../sources.ts';
import { leftOutImports } from './memories.ts';
import { z } from 'zod';

const toolDeclaration = z.object({
  name: z.string(),
  description: z.string().optional(),
  parametersJsonSchema: z.unknown().optional(),
});

export const contextItemResponse = z.object({
  kind: z.enum(['system', 'tools', 'memory', 'pin', 'snapshot', 'ack', 'turn', 'marker']),
  seq: z.number().int().optional(),
  state: z
    .enum(['running', 'awaiting_tool'])
    .optional()
    .describe(
      'On the items of a turn that is not finished: its message and the rounds of calls that are stored so far. A response that nobody has given yet has no `response`.',
    ),
  tokens,
  content: z
    .union([z.string(), z.array(toolDeclaration), contentSchema])
    .describe(
      'The text of `system`, the declarations of `tools`, else a Content. `memory`, `pin` and `snapshot` are sent as parts of one Content.',
    ),
  sources: z
    .array(citationResponse)
    .optional()
    .describe('On the snapshot: the sources of folded answers, which it names by their ids.'),
  repairs: repairsSchema
    .optional()
    .describe('On the first item of a turn: what of it is mended so that the model takes it.'),
});
export type ContextItemView = z.infer<typeof contextItemResponse>;

export const shrinkageResponse = z
  .object({
    turnsLeftOut: z.number().int().describe('Oldest turns that a marker stands in for.'),
    from: z.number().int().optional().describe('First of these turns.'),
    upTo: z.number().int().optional().describe('Last of these turns.'),
    outputsMasked: z.number().int().describe('Tool outputs that are shown shortened.'),
  })
  .describe(
    'Only over the hard threshold, or over the budget for tool outputs: what the view of this request leaves out.',
  );

const limit = z.object({
  tokens: z.number().int(),
  source: z.enum(['conversation', 'remote', 'environment', 'model', 'default', 'derived']),
});

export const policyResponse = z
  .object({
    threshold: limit.extend({
      tokens: z.number().int().nullable(),
      learned: z
        .number()
        .optional()
        .describe(
          'By which share of itself compactions by hand have moved it; absent: not at all.',
        ),
    }),
    hardThreshold: limit,
    tail: limit,
    snapshot: limit,
    toolOutputs: limit,
  })
  .describe(
    'Only of the present generation: the limits in force, and which level set each; `derived` follows from the threshold.',
  );
export type PolicyView = z.infer<typeof policyResponse>;

const memoryResponse = z
  .object({
    tokens: tokens.describe('Uncalibrated estimate of the notes of the prefix.'),
    budgetTokens: tokens,
    shown: z.number().int().describe('Notes that stand in the prefix.'),
    waiting: z
      .number()
      .int()
      .describe('Newer notes: said with every message until the next compaction moves them up.'),
    leftOut: z.number().int().describe('Notes that the budget has no room for.'),
    imports: leftOutImports,
  })
  .describe('Only of the present generation: how much of the memory the prompt shows.');
export type MemoryView = z.infer<typeof memoryResponse>;

export const contextResponse = z.object({
  generation: z.number().int(),
  contextTokens: tokens,
  shrunken: shrinkageResponse.optional(),
  policy: policyResponse.optional(),
  memory: memoryResponse.optional(),
  items: z.array(contextItemResponse),
});
export type ContextView = z.infer<typeof contextResponse>;
