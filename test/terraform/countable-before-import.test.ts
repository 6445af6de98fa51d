import { join } from 'node:path';
import { expect, test } from 'vitest';
import { terraformFolder } from './check-terraform.ts';
import { readModule } from './read-module.ts';

// `terraform import` begins with a state that lacks what others stand for, and refuses to count it.
test.each(['', 'examples/load-balancer'])(
  'in terraform/%s, how many of a resource there are is known before anything is made',
  async (root) => {
    const { resources } = await readModule(join(terraformFolder, root));
    const counted = resources.map(({ address, body }) => ({
      address,
      by: [body['for_each'], body['count']].filter((one) => typeof one === 'string').join(),
    }));

    // Values may be unknown; names may not.
    const byResources = /(?:\$\{|\(|, )\s*(?:google_|data\.)/;
    expect(counted.filter(({ by }) => byResources.test(by))).toEqual([]);
  },
);
