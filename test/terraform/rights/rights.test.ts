import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { readModule } from '#infra/reference/terraform-module.ts';
import { terraformFolder } from '../check-terraform.ts';
import { matches, unique } from '../texts.ts';
import { googleCalls } from './google-calls.ts';
import { roles, servesNoCall } from './roles.ts';

const { resources, locals } = await readModule(terraformFolder);
const members = JSON.stringify(locals['function_members']);

/** The roles that resources of the module give, whatever its variables are: what they allow, and which functions. */
const rights = resources
  .filter(({ type }) => type.endsWith('_iam_member'))
  .map(({ address, body }) => {
    const iterated = String(body['member']).includes('each.value') ? body['for_each'] : '';
    const member = `${JSON.stringify(body['member'])} ${JSON.stringify(iterated)}`;
    const named = member.includes('local.function_members') ? members : member;
    const accounts = matches(named, /google_service_account\.(chat|compaction)\.member/g);
    // The address of a role that the module makes; a predefined role as it is.
    const given = String(body['role']);
    const role = /google_project_iam_custom_role\.\w+/.exec(given)?.[0] ?? given;
    const own = resources.find((resource) => resource.address === role);
    const permissions = own
      ? z.array(z.string()).parse(own.body['permissions'])
      : (roles[role]?.permissions ?? []);
    return { address, role, permissions, accounts };
  });

const needed = Object.values(googleCalls)
  .flat()
  .flatMap(({ method, accounts, permissions }) =>
    accounts.flatMap((account) =>
      permissions.map((permission) => ({ account, permission, method })),
    ),
  );

const serves = (right: Omit<(typeof rights)[number], 'address' | 'role'>) =>
  needed.some(
    ({ account, permission }) =>
      right.accounts.includes(account) && right.permissions.includes(permission),
  );

describe('rights that the module gives', () => {
  test('allow every call to the account that makes it', () => {
    const missing = needed.filter(
      ({ account, permission }) =>
        !rights.some(
          ({ accounts, permissions }) =>
            accounts.includes(account) && permissions.includes(permission),
        ),
    );

    expect(missing).toEqual([]);
  });

  test('serve a call of each account that has them, or say whom they serve', () => {
    const idle = rights.filter(
      ({ permissions, accounts }) =>
        accounts.length === 0 ||
        accounts.some((account) => !serves({ permissions, accounts: [account] })),
    );

    expect(unique(idle.map(({ address }) => address))).toEqual(
      Object.keys(servesNoCall).toSorted(),
    );
  });

  test('are roles that the table knows, and the table knows no other', () => {
    const predefined = rights.map(({ role }) => role).filter((role) => role.startsWith('roles/'));

    expect(Object.keys(roles).toSorted()).toEqual(unique(predefined));
  });

  test('of roles of its own allow nothing but what calls need', () => {
    const own = rights.filter(({ role }) => !role.startsWith('roles/'));
    const idle = own.flatMap(({ permissions }) =>
      permissions.filter((permission) => !needed.some((one) => one.permission === permission)),
    );

    expect(own.length).toBeGreaterThan(0);
    expect(idle).toEqual([]);
  });
});
