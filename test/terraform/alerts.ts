import { join } from 'node:path';
import { terraformFolder } from './check-terraform.ts';
import { bodyOf, readModule } from './read-module.ts';

/** The alerts and objectives of terraform/monitoring.tf, by their keys. */
export async function monitoring(): Promise<{ alerts: string[]; objectives: string[] }> {
  const { locals } = await readModule(terraformFolder);
  const keysOf = (name: string) =>
    Object.keys(bodyOf(locals.find((one) => one.name === name)?.body['value']));
  return {
    alerts: keysOf('alerts'),
    objectives: [...keysOf('latency_objectives'), ...keysOf('outcome_objectives')],
  };
}

/** Where the text of an alert stands. */
export const alertFile = (key: string) => join(terraformFolder, 'alerts', `${key}.md`);
