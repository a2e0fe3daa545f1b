export interface SignOnAccount {
  readonly sub: string;
  readonly groups: readonly string[];
}

export interface SignOnProvider {
  readonly issuer: string;
  stop(): Promise<void>;
}

export function startSignOnProvider(settings: {
  readonly clientSecret: string;
  readonly redirectUri: string;
  readonly account: () => SignOnAccount;
}): Promise<SignOnProvider>;
