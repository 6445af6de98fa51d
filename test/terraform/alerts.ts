import { join } from 'node:path';
import { terraformFolder } from './check-terraform.ts';
import { namesIn, readModule } from './read-module.ts';

/** The alerts and objectives of terraform/monitoring.tf, by their keys. */
export async function monitoring(): Promise<{ alerts: string[]; objectives: string[] }> {
  const { locals } = await readModule(terraformFolder);
  return {
    alerts: namesIn(locals['alerts']),
    objectives: [
      ...namesIn(locals['latency_objectives']),
      ...namesIn(locals['outcome_objectives']),
    ],
  };
}

/** Where the text of an alert stands. */
export const alertFile = (key: string) => join(terraformFolder, 'alerts', `${key}.md`);
