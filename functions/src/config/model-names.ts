import { isKnownModel, unknownModelAdvice } from '#shared/models/known-models.ts';
import { registry } from '#shared/models/registry.ts';
import { isRouted } from '#shared/routing/routing.ts';
import { calledModels } from './routing-variables.ts';

type ModelEnvironment = Readonly<
  Partial<Record<'MODEL' | (typeof calledModels)[number], string>>
> & {
  ROUTING_MODELS: readonly string[];
  MODEL_WINDOWS: Readonly<Record<string, unknown>>;
  MODEL_PRICES: Readonly<Record<string, unknown>>;
};

/** Variables whose model the table does not know, nor MODEL_WINDOWS or MODEL_PRICES: most often misspelt. */
export function unknownModels(
  environment: ModelEnvironment,
): { variable: string; message: string }[] {
  const { MODEL_WINDOWS: windows, MODEL_PRICES: prices } = environment;
  const known = { models: registry, windows, prices, named: [] };
  return (['MODEL', 'ROUTING_MODELS', ...calledModels] as const).flatMap((variable) =>
    [environment[variable] ?? []].flat().flatMap((model) =>
      isRouted(model) || isKnownModel(model, known)
        ? []
        : [
            {
              variable,
              message: `${model} is no model that is known here. ${unknownModelAdvice(known)}. A newer one is taken where MODEL_WINDOWS names it, e.g. ${JSON.stringify({ [model]: 1_048_576 })}`,
            },
          ],
    ),
  );
}
