/* What the package `recap` gives to an app's backend. */
export { defineRecap, type RecapFunctions } from './define-recap.ts';
export {
  fromAiSdk,
  tool,
  ToolError,
  type AfterCompaction,
  type AfterTurn,
  type BeforeCompaction,
  type BeforeCompactionResult,
  type BeforeTurn,
  type BeforeTurnResult,
  type MessagePart,
  type OtherModel,
  type RecapApp,
  type Step,
  type Tool,
  type ToolContext,
  type TurnStart,
  type User,
} from './app.ts';
export type { ReadTurn } from '#shared/hooks/read-turn.ts';
