import { z } from 'zod';
import { terraformFolder } from '../check-terraform.ts';
import { readModule } from '#infra/reference/terraform-module.ts';
import { matches } from '../texts.ts';
import { type Account, googleCalls } from './google-calls.ts';
import { roles } from './roles.ts';

/** A role that a resource of the module gives. */
interface GivenRight {
  address: string;
  /** A predefined role of Google, or the address of one that the module makes. */
  role: string;
  permissions: readonly string[];
  /** The functions whose accounts get it; none: somebody else does. */
  accounts: Account[];
}

/** The address in `${google_project_iam_custom_role.x[0].name}`; a predefined role as it is. */
const roleName = (role: unknown): string =>
  /google_project_iam_custom_role\.\w+/.exec(String(role))?.[0] ?? String(role);

const isAccount = (name: string): name is Account => name === 'chat' || name === 'compaction';

/** The rights that the module gives, whatever its variables are. */
export async function givenRights(): Promise<GivenRight[]> {
  const { resources, locals } = await readModule(terraformFolder);
  const members = JSON.stringify(locals['function_members']);
  return resources
    .filter(({ type }) => type.endsWith('_iam_member'))
    .map(({ address, body }) => {
      const iterated = String(body['member']).includes('each.value') ? body['for_each'] : '';
      const member = `${JSON.stringify(body['member'])} ${JSON.stringify(iterated)}`;
      const named = member.includes('local.function_members') ? members : member;
      const accounts = matches(named, /google_service_account\.(\w+)\.member/g).filter(isAccount);
      const role = roleName(body['role']);
      const own = resources.find((resource) => resource.address === role);
      const permissions = own
        ? z.array(z.string()).parse(own.body['permissions'])
        : (roles[role]?.permissions ?? []);
      return { address, role, permissions, accounts };
    });
}

/** What an account must be allowed for the calls of the code, with the call that needs it. */
export const neededPermissions = () =>
  Object.entries(googleCalls).flatMap(([file, { calls }]) =>
    Object.entries(calls).flatMap(([call, { permissions, accounts }]) =>
      accounts.flatMap((account) =>
        permissions.map((permission) => ({ account, permission, needed: `${file}: ${call}` })),
      ),
    ),
  );

/** Whether a right allows an account this. */
export const allows = (
  right: GivenRight,
  { account, permission }: { account: Account; permission: string },
): boolean => right.accounts.includes(account) && right.permissions.includes(permission);
