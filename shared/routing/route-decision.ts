import { DEFAULT_ROUTE, type Route, type Routing, type RoutingModels } from './routing.ts';

/**
 * Files of a message from which on nobody is asked, tokens. The classifier sees no files, so it would judge by the
 * few words beside them; and the other model would read so many tokens again without a cache. A heuristic: a PDF of
 * some forty pages, or nine pictures of Gemini 3.
 */
export const ROUTED_FILES_TOKENS = 10_000;

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
