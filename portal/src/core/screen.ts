/** What a screen of the portal is: it says so in its index.tsx, and portal/src/screens/index.ts lists it. */
import { type ComponentType, createContext } from 'react';
import type { IconName } from '../ui/icons.tsx';
import type { TenantApi } from './api.ts';
import type { Power, Tenant } from './session.ts';
import type { Texts } from './texts.ts';

export type ScreenId = 'overview' | 'policies' | 'model' | 'consents' | 'people' | 'activity' | 'settings';

export type PaletteEntry = {
  /** What is shown and searched. */
  label: string;
  hint?: string;
  icon?: IconName;
  /** Below the tenant, with the screen: `/policies/car-drive`. */
  to: string;
  /** What a role must be allowed; absent: what its page asks for. */
  may?: Power;
};

type ScreenRoute = {
  /** Below the screen: `/` is its first page; `/$name/history`. */
  path: string;
  /** What a role must be allowed to see the page; absent: every role sees it. */
  may?: Power;
  /** The page of docs/ that says what this is, such as `policies.html#tests`. */
  guide: string;
  load: () => Promise<{ default: ComponentType }>;
};

export type Screen<T extends { title: string } = { title: string }> = {
  id: ScreenId;
  icon: IconName;
  texts: Texts<T>;
  routes: readonly ScreenRoute[];
  /** Entries that are always there. */
  palette?(texts: T): PaletteEntry[];
  /** What the tenant has for what was typed: objects by name, a pasted id. Rejections are passed over. */
  find?(query: string, context: { tenant: Tenant; api: TenantApi; signal: AbortSignal }): Promise<PaletteEntry[]>;
};

/** That of the page that is shown. */
export const GuideContext = createContext<string | undefined>(undefined);

/** Checks a screen where it is written, and makes one of the list. */
export const defineScreen = <T extends { title: string }>(screen: Screen<T>): Screen => screen as unknown as Screen;
