import json
import os

from subscription_billing_service_api_client import AuthenticatedClient
from subscription_billing_service_api_client.api.customers import get_customer, post_customer
from subscription_billing_service_api_client.api.plans import post_plan
from subscription_billing_service_api_client.api.subscriptions import get_subscription, post_subscription
from subscription_billing_service_api_client.api.websites import post_website
from subscription_billing_service_api_client import models

organization = os.environ["ORGANIZATION"]
client = AuthenticatedClient(
    base_url=os.environ["BASE_URL"], token=os.environ["KEY"], prefix="", auth_header_name="SVC-APIKEY"
)


website = post_website.sync(organization, client=client, body=models.WebsiteBody(name="Shop"))
customer = post_customer.sync(
    organization,
    client=client,
    body=models.CustomerBody(
        email="ada@example.com", primary_address=models.ContactBody(city="London", country="GB")
    ),
)
plan = post_plan.sync(
    organization,
    client=client,
    body=models.SubscriptionPlanBody(
        name="Monthly",
        currency="EUR",
        pricing=models.FixedFeePricingBody(formula=models.FixedFeePricingBodyFormula.FIXED_FEE, price=9.9),
        recurring_interval=models.RecurringIntervalBody(
            unit=models.RecurringIntervalBodyUnit.MONTH, length=1
        ),
    ),
)
order = post_subscription.sync(
    organization,
    client=client,
    body=models.SubscriptionBody(
        order_type=models.SubscriptionBodyOrderType.SUBSCRIPTION_ORDER,
        customer_id=customer.id,
        website_id=website.id,
        items=[models.SubscriptionItemBody(plan=models.SubscriptionItemPlanBody(id=plan.id))],
    ),
)
read = get_subscription.sync(
    organization,
    order.id,
    client=client,
    expand=[models.GetSubscriptionExpandItem.CUSTOMER, models.GetSubscriptionExpandItem.WEBSITE],
)
refused = get_customer.sync(organization, "nobody", client=client)
print(
    json.dumps(
        {
            "orderId": read.id,
            "email": read.field_embedded.customer.email,
            "price": plan.pricing.price,
            "problem": refused.code.value,
        }
    )
)
