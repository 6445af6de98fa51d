import { z } from 'zod';

/** As the model of a conversation: which model answers is chosen anew for every turn. No model has this id. */
export const AUTO_MODEL = 'auto';

/** The two models of a deployment among which is chosen. */
export const routeSchema = z.enum(['fast', 'strong']);
export type Route = z.infer<typeof routeSchema>;

/** Answers where the classifier fails or takes longer than two seconds. */
export const DEFAULT_ROUTE: Route = 'fast';

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
