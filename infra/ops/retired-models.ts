import type { Config } from '#functions/config.ts';
import { calledModels } from '#functions/config/routing-variables.ts';
import { modelCatalog } from '#functions/models/models-in-use.ts';
import { findRetirement, modelInService } from '#shared/models/retirement.ts';

/** Every setting that names a model which is called. */
const modelSettings = ['MODEL', ...calledModels, 'COMPRESSOR_FALLBACKS'] as const;

/** What is called in the place of a model, and since when; undefined while it is in service. */
function retirementText(config: Config, model: string): string | undefined {
  const catalog = modelCatalog(config);
  const retirement = findRetirement(model, catalog);
  return (
    retirement &&
    `shut down on ${retirement.day}: ${modelInService(model, catalog)} is called in its place`
  );
}

/** A model as the operator reads it: with its successor where it is retired. */
export function modelText(config: Config, model: string): string {
  const text = retirementText(config, model);
  return text === undefined ? model : `${model} (${text})`;
}

/** A line for each setting that names a retired model, with the remedy. */
export const retiredSettings = (config: Config): string[] =>
  modelSettings.flatMap((setting) =>
    [config[setting] ?? []].flat().flatMap((model) => {
      const text = retirementText(config, model);
      return text === undefined
        ? []
        : [`${setting} names ${model}, which is ${text}; set ${setting} to a model in service`];
    }),
  );
