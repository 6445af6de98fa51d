import { contextWindowTokens, type WindowOverrides } from './known-models.ts';
import type { ModelTable } from './model-entry.ts';
import { z } from 'zod';

/** As the model of a conversation: which model answers is chosen anew for every turn. No model has this id. */
export const AUTO_MODEL = 'auto';

/** The two models of a deployment among which is chosen. */
export const routeSchema = z.enum(['fast', 'strong']);
export type Route = z.infer<typeof routeSchema>;

/** Answers where the classifier fails or takes longer than two seconds. */
const DEFAULT_ROUTE: Route = 'fast';

/** Ids of the models, as an operator names them. */
export type RoutingModels = Readonly<Record<Route, string>>;

/**
 * Who chose: `classifier`, a call of a cheap model; `rule`, what needs no call; `default`, where the
 * classifier gave none.
 */
const routingReasons = ['classifier', 'rule', 'default'] as const;

/** What was chosen for a turn; stored with it, so that whoever goes on with the turn stays with it. */
export const routingSchema = z.object({
  choice: routeSchema,
  why: z.enum(routingReasons),
  /** Id of the model that answers. */
  model: z.string(),
});
export type Routing = z.infer<typeof routingSchema>;

export const isRouted = (model: string): boolean => model === AUTO_MODEL;

/** What a deployment has to answer with. */
interface AnsweringModels {
  /** Absent: nothing is chosen, and `auto` is what new conversations get. */
  routing: RoutingModels | undefined;
  /** Model of new conversations. */
  fallback: string;
  windows?: WindowOverrides;
  /** What is known of models; absent: the registry. */
  models?: ModelTable;
}

/**
 * The models that may answer a conversation, the one with the smallest window first: its own, or of an `auto` one
 * those that are chosen among. A deployment that chooses no more answers with its model of new conversations.
 */
function answeringModels(
  model: string,
  { routing, fallback, windows, models }: AnsweringModels,
): [string, ...string[]] {
  if (!isRouted(model)) return [model];
  if (!routing) return [fallback];
  const { fast, strong } = routing;
  return contextWindowTokens(strong, windows, models) < contextWindowTokens(fast, windows, models)
    ? [strong, fast]
    : [fast, strong];
}

/**
 * The model whose limits a conversation has. Of an `auto` one that with the smaller window: a context that fits
 * there fits the other one, so that no choice ever sends over a window. At equal windows the fast one.
 */
export const limitingModel = (model: string, input: AnsweringModels): string =>
  answeringModels(model, input)[0];

/**
 * Files of a message from which on nobody is asked, tokens. The classifier sees no files, so it would judge by the
 * few words beside them; and the other model would read so many tokens again without a cache. A heuristic: a PDF of
 * some forty pages, or nine pictures of Gemini 3.
 */
const ROUTED_FILES_TOKENS = 10_000;

/** What a choice without a call depends on. */
export interface RouteFacts {
  models: RoutingModels;
  /** What the turn was given before: it is taken over, goes on, or says an earlier one anew. */
  earlier: Routing | undefined;
  /** The conversation's own setting. */
  setting: Route | undefined;
  /** What the newest turn of the context got. */
  last: Route | undefined;
  /** Estimated tokens of the files of the message. */
  filesTokens: number;
}

/** A model that is not offered any more gives way to the one that has its place now: only those are in the limits. */
function kept({ choice, why, model }: Routing, models: RoutingModels): Routing {
  const isOffered = model === models.fast || model === models.strong;
  return { choice, why, model: isOffered ? model : models[choice] };
}

/**
 * The choice that needs no call; undefined: the classifier is asked. A turn stays with its model for as long as it
 * is answered, so that the signatures of its calls go back to whoever made them.
 */
export function routeByRule(facts: RouteFacts): Routing | undefined {
  const { models, earlier, setting, last, filesTokens } = facts;
  if (earlier) return kept(earlier, models);
  const choice =
    setting ?? (filesTokens >= ROUTED_FILES_TOKENS ? (last ?? DEFAULT_ROUTE) : undefined);
  return choice && { choice, why: 'rule', model: models[choice] };
}

/** What the classifier chose, or the default where it gave none. */
export function routeByClassifier(choice: Route | undefined, models: RoutingModels): Routing {
  const route = choice ?? DEFAULT_ROUTE;
  return { choice: route, why: choice ? 'classifier' : 'default', model: models[route] };
}
