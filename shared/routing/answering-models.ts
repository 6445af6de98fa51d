import { contextWindowTokens, type WindowOverrides } from '../models/context-window.ts';
import type { ModelTable } from '../models/model-entry.ts';
import { isRouted, type RoutingModels } from './routing.ts';

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
export function answeringModels(
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
