-- The roles of the service and of Temporal, none of them a superuser. It is run by one, in the database of the service,
-- with the passwords of the logins as settings (set-up-roles.sh). Doing it again changes passwords only.
--
-- The logins get their rights from roles without login, which `npm run migrate` fills: see the README, "Roles of
-- PostgreSQL".
do $$
declare
  name text;
begin
  foreach name in array array['billing_api', 'billing_worker', 'billing_test_gateway'] loop
    if to_regrole(name) is null then
      execute format('create role %I nologin', name);
    end if;
  end loop;
  foreach name in array array['billing_owner', 'api', 'worker', 'temporal'] loop
    if to_regrole(name) is null then
      execute format('create role %I', name);
    end if;
    execute format('alter role %I login nosuperuser nocreaterole nobypassrls password %L',
      name, current_setting('passwords.' || name));
  end loop;
  -- The test gateway is a system of its own, reached by the same login: live deployments leave it out.
  grant billing_api, billing_test_gateway to api;
  grant billing_worker, billing_test_gateway to worker;
  -- It makes its own databases.
  alter role temporal createdb;
  execute format('alter database %I owner to billing_owner', current_database());
  execute format('revoke connect on database %I from public', current_database());
  execute format('grant connect on database %I to api, worker', current_database());
end
$$;
