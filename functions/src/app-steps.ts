import type {
  AnyTool,
  BeforeCompaction,
  BeforeTurn,
  OtherModel,
  RecapApp,
  Step,
  TurnStart,
  User,
} from './app.ts';
import { toToolResponse } from './chat/turns/tools/tool-response.ts';
import type { ServerTool, ToolCallOrigin } from './chat/turns/tools/toolbox.ts';
import type {
  Asked,
  CompactionHookEvent,
  CompactionHooks,
  PreCompactAnswer,
} from '#shared/compaction/hooks.ts';
import { contentText } from '#shared/models/content.ts';
import {
  type BeforeTurnAnswer,
  type BeforeTurnHook,
  type BeforeTurnQuestion,
  beforeTurnAnswerSchema,
} from '#shared/hooks/before-turn.ts';
import { findModel } from '#shared/models/model-entry.ts';
import type { Caller } from '#shared/ports/ports.ts';
import { configurationError, type Config } from './config.ts';
import { z } from 'zod';
import { inOneLine, safeParse } from '#shared/lib/safe-parse.ts';
import { hookFault } from './lib/run-hook.ts';

/* What an app has defined, as the functions use it. */

/** Of a tool that names no limit. */
const TOOL_TIMEOUT_MS = 30_000;

export const toUser = ({ uid, tier, claims = {} }: Caller): User => ({
  uid,
  isAnonymous: tier === 'anonymous',
  claims,
});

type Environment = Readonly<Record<string, string | undefined>>;

/** The environment with the app's model where it names none, and with its window. */
export function withAppModel(environment: Environment, { model }: RecapApp): Environment {
  if (!model) return environment;
  const { id, windowTokens } = model;
  return {
    ...environment,
    MODEL: environment['MODEL'] || id,
    QUICK_MODEL: environment['QUICK_MODEL'] || id,
    MODEL_WINDOWS: withWindow(environment['MODEL_WINDOWS'] || '{}', { id, windowTokens }),
  };
}

const windowsSchema = z.record(z.string(), z.unknown());

/** The text of MODEL_WINDOWS with one more; what is no JSON object stays, for the configuration to refuse. */
function withWindow(windows: string, { id, windowTokens }: Omit<OtherModel, 'source'>): string {
  try {
    return JSON.stringify({ [id]: windowTokens, ...windowsSchema.parse(JSON.parse(windows)) });
  } catch {
    return windows;
  }
}

/** Throws AppError INVALID_CONFIGURATION where dollars are limited and nobody knows what the app's model costs. */
export function checkPrice(
  config: Pick<Config, 'USER_DAILY_USD' | 'GLOBAL_DAILY_USD' | 'MODEL_PRICES'>,
  { model }: RecapApp,
): void {
  const isLimited = config.USER_DAILY_USD > 0 || config.GLOBAL_DAILY_USD > 0;
  if (!model || !isLimited || findModel(config.MODEL_PRICES, model.id)) return;
  const price = JSON.stringify({ [model.id]: { input: 3, cached: 0.3, output: 15 } });
  throw configurationError(
    `MODEL_PRICES: must name what ${model.id} costs, e.g. ${price}; or set USER_DAILY_USD and GLOBAL_DAILY_USD to 0`,
  );
}

const callOf = ({ caller, conversationId }: ToolCallOrigin): TurnStart => ({
  user: toUser(caller),
  conversationId,
});

/** Arguments that `input` has parsed: of the type that `run` takes, which nobody can tell here. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `tool` has tied both
const asToolInput = (args: object): never => args as never;

/** A tool of an app as the server runs it. */
export function serverTool(tool: AnyTool): ServerTool {
  const { name, description, input, timeoutMs = TOOL_TIMEOUT_MS, polled, needsApproval } = tool;
  return {
    name,
    description,
    parameters: input,
    timeoutMs,
    ...(polled !== undefined && { polled }),
    ...(needsApproval !== undefined && {
      needsApproval: async (args, origin) => {
        if (typeof needsApproval !== 'function') return needsApproval;
        const answer: unknown = await needsApproval(asToolInput(args), callOf(origin));
        // One that says nothing has not said no.
        return answer !== false;
      },
    }),
    run: async (args, context) => {
      const { key, isApproved, signal } = context;
      const called = { ...callOf(context), callId: key, isApproved, signal };
      return toToolResponse(await tool.run(asToolInput(args), called));
    },
  };
}

/** The app's instruction of a turn; undefined where it defines none. */
function appInstruction({ systemInstruction }: RecapApp) {
  if (systemInstruction === undefined) return undefined;
  return async (turn: TurnStart): Promise<string | undefined> => {
    const given: unknown =
      typeof systemInstruction === 'string' ? systemInstruction : await systemInstruction(turn);
    if (given === undefined || typeof given === 'string') return given;
    throw hookFault(
      `systemInstruction returned ${given === null ? 'null' : typeof given}. It returns a text, or undefined to leave the instruction as it is`,
    );
  };
}

/** A step with whether it is required; default: it is not. */
const withRequired = <Run extends (...given: never) => unknown>(
  step: Step<Run>,
): { run: Run; required: boolean } =>
  typeof step === 'function' ? { run: step, required: false } : step;

function toBeforeTurn(question: BeforeTurnQuestion, signal: AbortSignal): BeforeTurn {
  const { event, caller, parts, history } = question;
  const { conversationId, turnId: id, messageId } = event;
  return {
    user: toUser(caller),
    conversationId,
    turnId: id,
    message: { id: messageId, text: contentText({ role: 'user', parts: [...parts] }), parts },
    history,
    signal,
  };
}

/**
 * What a step of the app returned: nothing, or an object with fields that are known. Throws HOOK_FAILED, which names the
 * field for the log.
 */
function checkedResult<Result extends object>(
  step: string,
  schema: z.ZodType<Result> & { shape: object },
  given: unknown,
): Result {
  const read = safeParse(schema, given ?? {});
  if (read.success) return read.data;
  throw hookFault(
    `${step} returned what cannot be used: ${inOneLine(read.error)}. It returns nothing, or an object with any of ${Object.keys(schema.shape).join(', ')}`,
  );
}

const answerFields = beforeTurnAnswerSchema.shape;

const beforeTurnResultSchema = (tools: readonly AnyTool[]) =>
  z.strictObject({
    context: answerFields.addContext,
    deny: z.string().min(1).optional(),
    model: answerFields.model,
    tools: z
      .array(
        z.custom<string | AnyTool>(
          (chosen) => tools.some((tool) => tool === chosen || tool.name === chosen),
          'is none of the tools that defineRecap was given, nor the name of one',
        ),
      )
      .optional(),
  });

/** The app's step before a turn. */
export function beforeTurnHooks({
  beforeTurn,
  tools: ownTools = [],
}: RecapApp): readonly BeforeTurnHook[] {
  if (!beforeTurn) return [];
  const schema = beforeTurnResultSchema(ownTools);
  const { run, required } = withRequired(beforeTurn);
  return [
    {
      name: 'beforeTurn',
      required,
      run: async (question, signal): Promise<BeforeTurnAnswer | undefined> => {
        const given = await run(toBeforeTurn(question, signal));
        const { context, deny, model, tools } = checkedResult('beforeTurn', schema, given);
        return {
          ...(context !== undefined && { addContext: context }),
          ...(deny !== undefined && { deny: { message: deny } }),
          ...(model !== undefined && { model }),
          // By name, which every instance finds the function by.
          ...(tools !== undefined && {
            tools: tools.map((each) => (typeof each === 'string' ? each : each.name)),
          }),
        };
      },
    },
  ];
}

/** What an app has defined that chat works with; everything may be absent. */
export interface ChatSteps {
  beforeTurnHooks?: readonly BeforeTurnHook[];
  /** The app's own system instruction, asked when a turn begins; absent: what is stored is used. */
  appInstruction?: ((turn: TurnStart) => Promise<string | undefined>) | undefined;
}

export const chatSteps = (app: RecapApp): ChatSteps => ({
  beforeTurnHooks: beforeTurnHooks(app),
  appInstruction: appInstruction(app),
});

const toCompaction = (
  { event, uid }: Asked<CompactionHookEvent>,
  signal: AbortSignal,
): Omit<BeforeCompaction, 'turns'> => {
  const { conversationId, requestId, trigger, generation, beforeTokens } = event;
  return { uid, conversationId, requestId, trigger, generation, beforeTokens, signal };
};

const beforeCompactionResultSchema = z.strictObject({
  veto: z.boolean().optional(),
  pins: z.array(z.object({ id: z.string(), text: z.string() })).optional(),
  note: z.string().optional(),
});

/** The app's steps around a compaction. */
export function compactionHooks({ beforeCompaction, afterCompaction }: RecapApp): CompactionHooks {
  const before = beforeCompaction && withRequired(beforeCompaction);
  return {
    preCompact: before
      ? [
          {
            name: 'beforeCompaction',
            required: before.required,
            run: async (asked, signal): Promise<PreCompactAnswer | undefined> =>
              checkedResult(
                'beforeCompaction',
                beforeCompactionResultSchema,
                await before.run({ ...toCompaction(asked, signal), turns: asked.turns() }),
              ),
          },
        ]
      : [],
    postCompact: afterCompaction
      ? [
          {
            name: 'afterCompaction',
            run: async (asked, signal) => {
              const { state, reason, afterTokens } = asked.event;
              await afterCompaction({
                ...toCompaction(asked, signal),
                state,
                ...(reason !== undefined && { reason }),
                afterTokens,
              });
              return undefined;
            },
          },
        ]
      : [],
  };
}
