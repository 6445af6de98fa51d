import { AppError } from '#shared/lib/errors.ts';
import type { ReadTurn } from '#shared/hooks/read-turn.ts';
import type { z } from 'zod';

/* What an app's backend adds to Recap in code: its instruction, its tools, and steps before and after turns and compactions. */

/** Whose message or call it is. */
export interface User {
  uid: string;
  isAnonymous: boolean;
  /**
   * Of the verified ID token, custom claims among them. Empty where a server of the app acts for the user.
   */
  claims: Readonly<Record<string, unknown>>;
}

/** A piece of a message, as Gemini has it. */
export interface MessagePart {
  text?: string | undefined;
  /** A file. */
  fileData?: { mimeType?: string | undefined; fileUri: string } | undefined;
  inlineData?: { mimeType: string; data: string } | undefined;
}

export interface TurnStart {
  user: User;
  conversationId: string;
}

export interface BeforeTurn extends TurnStart {
  /** Of the turn that would answer the message: `t_17`. */
  turnId: string;
  message: {
    /** The client's. */
    id: string;
    /** All its text parts. Empty for an answer that is made anew. */
    text: string;
    parts: readonly MessagePart[];
  };
  /** The turns that the model will see word for word, oldest first. Reads the store. */
  history: () => Promise<ReadTurn[]>;
  /** Fires when the time is over. */
  signal: AbortSignal;
}

/** What a turn is given before it begins; everything may be absent. */
export interface BeforeTurnResult {
  /** Said to the model before the message, as data, and stored with it; 8,192 UTF-16 units at most. */
  context?: string;
  /** The message is refused with this text, of which 500 UTF-16 units are shown, and nothing of it is stored. */
  deny?: string;
  /** Answers this turn in place of the conversation's model. */
  model?: string;
  /**
   * Of the app's `tools` those that the model may call in this turn, themselves or by name; default all. Tools that Recap
   * brings along and those of the client stay. Stored with the turn, so that an instance that takes it over, or goes on
   * with it when the user has allowed a call, offers the same.
   */
  tools?: readonly (string | AnyTool)[];
}

export interface AfterTurn {
  uid: string;
  conversationId: string;
  turn: ReadTurn;
  /** That answered. */
  model?: string;
  /** Tokens, and millionths of a US dollar. */
  usage?: {
    promptTokens: number;
    cachedTokens: number;
    outputTokens: number;
    thoughtsTokens: number;
    costMicros?: number | undefined;
  };
  signal: AbortSignal;
}

export interface BeforeCompaction {
  uid: string;
  conversationId: string;
  requestId: string;
  /** Why: `auto`, `manual`, `overflow`, … */
  trigger: string;
  /** Number of the generation that would be replaced. */
  generation: number;
  /** The turns that are put into the summary, oldest first. */
  turns: readonly ReadTurn[];
  /** Tokens of the context before. */
  beforeTokens: number;
  signal: AbortSignal;
}

/** What a step before a compaction may answer. */
export interface BeforeCompactionResult {
  /** Ends the compaction; what is pinned stays pinned. */
  veto?: boolean;
  /**
   * Texts to keep word for word from now on, under ids of 1 to 64 letters, digits, `-` and `_`. The newest text under an id
   * wins. What does not fit into the budget of pins beside the owner's is left out, which is logged.
   */
  pins?: readonly { id: string; text: string }[];
  /** What the summariser is to know beside the turns, as data; 4,000 UTF-16 units at most. It is not kept. */
  note?: string;
}

export interface AfterCompaction extends Omit<BeforeCompaction, 'turns'> {
  /** `COMPACTED`, `NOOP`, `FAILED_…`. */
  state: string;
  reason?: string;
  afterTokens: number;
}

/** A step that may be required: then its failure stops what it is asked about, else it is logged and left out. */
export type Step<Run> = Run | { run: Run; required: boolean };

export interface ToolContext extends TurnStart {
  /** The same whenever the call runs again after a crash, so that a tool with an effect can tell: `t_17:0`. */
  callId: string;
  /** The user was asked and allowed the call. */
  isApproved: boolean;
  /** Fires at the tool's time limit, when the user stops the turn, and when the process ends. */
  signal: AbortSignal;
}

/** A function that the model may call and that the server runs. */
export interface Tool<Input extends z.ZodObject = z.ZodObject> {
  /** A letter, then letters, digits and `_`; at most 64 characters. */
  name: string;
  /** What it does and when to use it, for the model. */
  description: string;
  /** Checked before `run`; a violation is an error that the model reads. */
  input: Input;
  /**
   * What the model gets: an object as it is, anything else as `{ output }`, both as JSON of 1 MiB at most. Of an error the
   * model learns no more than that there was one, unless it is a `ToolError`.
   */
  run(input: z.infer<Input>, context: ToolContext): unknown;
  /** Whether the user is asked before this call runs. Default: never. Where it throws, the user is asked. */
  needsApproval?:
    | boolean
    | ((input: z.infer<Input>, call: TurnStart) => boolean | Promise<boolean>);
  /** Default 30,000. */
  timeoutMs?: number;
  /** It is asked again and again until something has happened: equal calls of it are no loop. */
  polled?: boolean;
}

/** A tool whatever its input is. */
export interface AnyTool extends Omit<Tool, 'run' | 'needsApproval'> {
  run(input: never, context: ToolContext): unknown;
  needsApproval?: boolean | ((input: never, call: TurnStart) => boolean | Promise<boolean>);
}

/** What a tool has to tell the model of a failure, in words that may be shown. */
export class ToolError extends AppError {
  constructor(publicMessage: string) {
    super({
      status: 'FAILED_PRECONDITION',
      reason: 'TOOL_FAILED',
      publicMessage,
    });
  }
}

/** A tool whose `run` knows its input by `input`. */
export const tool = <Input extends z.ZodObject>(definition: Tool<Input>): Tool<Input> => definition;

/**
 * What of a model of the AI SDK is used: the provider interface LanguageModelV4, or V3, of `@ai-sdk/provider`, as
 * `anthropic('…')` and the like give it.
 */
export interface AiSdkModel {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
  doGenerate(options: never): PromiseLike<unknown>;
  doStream(options: never): PromiseLike<unknown>;
}

/** A model of another vendor than Google. */
export interface OtherModel {
  /** What conversations, prices and logs call it. */
  id: string;
  windowTokens: number;
  source: AiSdkModel;
}

/** Of a model that names none; most have more. */
const OTHER_WINDOW_TOKENS = 128_000;

/**
 * A language model of the AI SDK for chat turns, tools, summaries and titles. `id`: default that of the model;
 * `windowTokens`: of its context window, default 128,000. Limits in dollars ask for its price in MODEL_PRICES.
 */
export const fromAiSdk = (
  source: AiSdkModel,
  {
    id = source.modelId,
    windowTokens = OTHER_WINDOW_TOKENS,
  }: Partial<Pick<OtherModel, 'id' | 'windowTokens'>> = {},
): OtherModel => ({ id, windowTokens, source });

/** An app's backend, as code. */
export interface RecapApp {
  /** Answers and summarises in the place of Gemini, unless MODEL, QUICK_MODEL or a conversation names another one. */
  model?: OtherModel;
  /**
   * The system instruction of every conversation, 200,000 UTF-16 units at most, or what makes it of the user when a turn
   * begins; two seconds. It takes the place of `SYSTEM_INSTRUCTION` and of what clients write; undefined leaves that. The
   * conversation stores it when it has changed, so that compactions and other instances go by the same. One that fails is
   * logged, and the last one stays.
   */
  systemInstruction?:
    | string
    | ((turn: TurnStart) => string | undefined | Promise<string | undefined>);
  /** Beside those of `BUILT_IN_TOOLS`. */
  tools?: readonly AnyTool[];
  /**
   * Runs before a new message is stored, once however often its start is tried; two seconds. It runs again where another
   * message takes the place of its turn first, and perhaps at a retry of the client after a crash.
   */
  beforeTurn?: Step<
    (
      turn: BeforeTurn,
    ) => BeforeTurnResult | undefined | void | Promise<BeforeTurnResult | undefined | void>
  >;
  /**
   * Runs when an answer is stored, beside the reader's stream; ten seconds. Once in effect: where it throws, hangs or its
   * process dies, the sweep runs it again, within six minutes and for three days, so a run that died at its very end is
   * repeated. `turn.turnId` with `conversationId` tells repetitions.
   */
  afterTurn?: (answered: AfterTurn) => void | Promise<void>;
  /**
   * Runs in the worker when it is decided which turns go into a summary, before a model is asked; ten seconds. May veto,
   * pin texts and tell the summariser something. A compaction that is tried again asks again.
   */
  beforeCompaction?: Step<
    (
      compaction: BeforeCompaction,
    ) =>
      | BeforeCompactionResult
      | undefined
      | void
      | Promise<BeforeCompactionResult | undefined | void>
  >;
  /**
   * Runs in the worker after a compaction for which turns were chosen, unless a step before it ended it; ten seconds.
   * Nothing changes by what it does. Twice for one `requestId` where a worker dies.
   */
  afterCompaction?: (compaction: AfterCompaction) => void | Promise<void>;
}

/** The names of what an app may define, for whoever writes it in JavaScript. */
export const appFields: Readonly<Record<keyof RecapApp, true>> = {
  model: true,
  systemInstruction: true,
  tools: true,
  beforeTurn: true,
  afterTurn: true,
  beforeCompaction: true,
  afterCompaction: true,
};
