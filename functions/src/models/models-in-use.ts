import type { Config } from '#functions/config.ts';
import type { GroundingTool } from '#shared/models/grounding.ts';
import { contextWindowTokens, type KnownModels } from '#shared/models/known-models.ts';
import { type PricedCall, costMicros, knownPrice } from '#shared/models/find-price.ts';
import {
  type ModelCatalog,
  type ModelTable,
  type PromptFiles,
  findModel,
  findRetirement,
  modelInService,
} from '#shared/models/model-entry.ts';
import { modelRegistry } from '#shared/models/model-registry.ts';
import type { ModelRequest } from '#shared/ports/ports.ts';
import { type RoutingModels, isRouted } from '#shared/models/routing.ts';

/* The table of models as this deployment uses it: with its own prices and windows, on its platform, today. */
export type ModelsConfig = Pick<
  Config,
  | 'MODEL_PRICES'
  | 'MODEL_WINDOWS'
  | 'GEMINI_API_KEY'
  | 'GEMINI_BASE_URL'
  | 'isDemo'
  | 'remotePolicy'
  | 'modelWatch'
>;

/** Without a watch there is no clock: nothing is retired, and first prices hold. */
const BEFORE_ALL = new Date(0);

/** The registry, with what the remote document says of models. */
export const knownModels = ({ remotePolicy }: Pick<Config, 'remotePolicy'>): ModelTable =>
  remotePolicy?.models() ?? modelRegistry;

/** What a caller may name a model by. */
export const knownModelNames = (
  config: Pick<Config, 'remotePolicy' | 'MODEL_PRICES' | 'MODEL_WINDOWS' | 'MODEL' | 'routing'>,
): KnownModels => ({
  models: knownModels(config),
  windows: config.MODEL_WINDOWS,
  prices: config.MODEL_PRICES,
  named: [config.MODEL, ...Object.values(config.routing ?? {})].filter((name) => !isRouted(name)),
});

/** The models as they are for this deployment at this moment. */
export const modelCatalog = (config: ModelsConfig): ModelCatalog => ({
  models: knownModels(config),
  prices: config.MODEL_PRICES,
  platform:
    config.isDemo || config.GEMINI_API_KEY !== undefined || config.GEMINI_BASE_URL !== undefined
      ? 'geminiApi'
      : 'vertex',
  now: config.modelWatch?.now() ?? BEFORE_ALL,
});

/** The model that is called where `model` is named: a retired one gives way to its successor, with one warning. */
export function answeringModel(config: ModelsConfig, model: string): string {
  const catalog = modelCatalog(config);
  const retirement = findRetirement(model, catalog);
  if (retirement === undefined) return model;
  const successor = modelInService(model, catalog);
  config.modelWatch?.noteRetired(model, { ...retirement, successor });
  return successor;
}

/** The two models that `auto` conversations choose between, as they are called. */
export const routingInService = (
  config: ModelsConfig & Pick<Config, 'routing'>,
): RoutingModels | undefined =>
  config.routing && {
    fast: answeringModel(config, config.routing.fast),
    strong: answeringModel(config, config.routing.strong),
  };

/** Tokens that fit into one call of a model in this deployment. */
export const modelWindowTokens = (config: ModelsConfig, model: string): number =>
  contextWindowTokens(model, config.MODEL_WINDOWS, knownModels(config));

/** How many files a prompt for a model may have, by kind; {}: nothing is known. */
export const promptFiles = (config: Pick<Config, 'remotePolicy'>, model: string): PromptFiles =>
  findModel(knownModels(config), model)?.promptFiles ?? {};

/** The model that summarises conversations held with `model`: that of the deployment, else this one itself. */
export const summarisingModel = (
  config: ModelsConfig & Pick<Config, 'COMPRESSOR_MODEL'>,
  model: string,
): string => answeringModel(config, config.COMPRESSOR_MODEL ?? model);

/** What a call cost, in millionths of a US dollar; a model without a price costs what the dearest one does. */
export function callCostMicros(config: ModelsConfig, call: PricedCall): number {
  const catalog = modelCatalog(config);
  if (knownPrice(call.model, catalog) === undefined) config.modelWatch?.noteUnpriced(call.model);
  return costMicros(call, catalog);
}

/**
 * Google's tools that a call is sent with: those of the deployment where the model takes them, beside functions or an
 * answer under a schema too.
 */
export function groundingTools(
  config: ModelsConfig & Pick<Config, 'GROUNDING'>,
  request: Pick<ModelRequest, 'model' | 'tools' | 'responseJsonSchema'>,
): { grounding?: readonly GroundingTool[] } {
  if (config.GROUNDING.length === 0) return {};
  const known = findModel(knownModels(config), request.model)?.grounding;
  const isAlone = (request.tools ?? []).length === 0 && request.responseJsonSchema === undefined;
  return known && (isAlone || known.withFunctions) ? { grounding: config.GROUNDING } : {};
}
